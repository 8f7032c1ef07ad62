// Counts that must not be taken by two transactions at once are guarded by advisory locks, which end with the
// transaction.
import { type Counted, query, type Session } from '../sql/session.ts'

// A task's key never changes, so it can be read before the task is locked. The locks are taken in the order
// of their numbers: `offset 0` keeps the sort below them.
const HOLD_COUNTS = query(
  'hold_counts',
  ({ find }) => `
    select pg_advisory_xact_lock(wanted.id)
    from (
      select distinct hashtextextended($1::text || named.name, 0) as id
      from (
        select ' key ' || t.concurrency_key as name
        from json_array_elements_text($2::json) as held(task_id)
        ${find('tasks', 't', 't.tenant_id = $1 and t.task_id = held.task_id::uuid')}
        where t.concurrency_key is not null
        union all
        select value from json_array_elements_text($3::json)
      ) as named
      order by id
      offset 0
    ) as wanted`,
)

export async function holdCounts(session: Session, tenantId: string, counted: Counted): Promise<void> {
  const named = [
    ...[...counted.concurrencyKeys].map((key) => ` key ${key}`),
    ...[...counted.workers].map((worker) => ` worker ${worker}`),
    ...(counted.tenant ? [' tenant'] : []),
  ]
  if (named.length === 0 && counted.taskIds.length === 0) return
  await session.all(HOLD_COUNTS, [tenantId, JSON.stringify(counted.taskIds), JSON.stringify(named)])
}

const TRY_HOLD_KEYS = query(
  'try_hold_keys',
  () => `
    select wanted.name
    from json_array_elements_text($2::json) as wanted(name)
    where pg_try_advisory_xact_lock(hashtextextended($1::text || ' key ' || wanted.name, 0))`,
)

/** The keys that no other transaction holds. */
export async function tryHoldKeys(
  session: Session,
  tenantId: string,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set()
  const rows = await session.all<{ name: string }>(TRY_HOLD_KEYS, [tenantId, JSON.stringify(keys)])
  return new Set(rows.map((row) => row.name))
}
