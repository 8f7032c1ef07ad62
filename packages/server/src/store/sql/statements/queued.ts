// The shelf of what waits. Its `place` says for what, and each place has an index of its own: `ready` is all that a claim
// looks at, `delayed` waits for a time, `parked` for room under a concurrency key, `waiting` for other tasks.
//
// What is ready and not `out_of_turn` became so when it was created, a moment after the time in its id. So claims need not look
// again where they found everything taken (postgres/floors.ts); what became ready later lies apart.
import {
  NEW_QUEUED_COLUMNS,
  QUEUED_CHANGES,
  QUEUED_COLUMNS,
  QUEUED_STATE,
  type QueuedRow,
} from '../queued-row.ts'
import { bulk, names, query, type RowOf, type Session } from '../session.ts'

const LOCK_QUEUED = bulk(
  'lock_queued',
  { task_id: 'uuid' },
  (x, words) => `
    select s.task_id, ${QUEUED_STATE}, ${words.address('s')} as address
    from ${x}
    ${words.findLocked('queued', 's', 's.tenant_id = $1 and s.task_id = x.task_id')}`,
)

/** In the order given. */
export function lockQueued(
  session: Session,
  tenantId: string,
  taskIds: readonly string[],
): Promise<QueuedRow[]> {
  return session.each(
    LOCK_QUEUED,
    tenantId,
    taskIds.map((task_id) => ({ task_id })),
  )
}

const INSERT_QUEUED = bulk(
  'insert_queued',
  QUEUED_COLUMNS,
  (x) => `
    insert into queued (tenant_id, ${names(QUEUED_COLUMNS)}, out_of_turn)
    select $1, ${names(QUEUED_COLUMNS, 'x')}, true
    from ${x}`,
)

export function insertQueued(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof QUEUED_COLUMNS>[],
): Promise<never[]> {
  return session.each(INSERT_QUEUED, tenantId, rows)
}

/** The columns that say what everybody can guess would cost as much to read as the others. */
const INSERT_NEW_QUEUED = bulk(
  'insert_new_queued',
  NEW_QUEUED_COLUMNS,
  (x, words) => `
    insert into queued (tenant_id, ${names(NEW_QUEUED_COLUMNS)}, attempt, expiries, fence, has_dependents, out_of_turn)
    select $1, ${names(NEW_QUEUED_COLUMNS, 'x')}, 0, 0, 0, false, x.place <> 'ready' or ${words.comesLate('x.task_id')}
    from ${x}`,
)

export function insertNewQueued(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof NEW_QUEUED_COLUMNS>[],
): Promise<never[]> {
  return session.each(INSERT_NEW_QUEUED, tenantId, rows)
}

const UPDATE_QUEUED = bulk('update_queued', QUEUED_CHANGES, (x, words) =>
  words.update(
    { table: 'queued', keys: ['task_id'], input: x },
    `place = x.place, out_of_turn = true, next_eligible_at = x.next_eligible_at, updated_at = x.updated_at, attempt = x.attempt,
      expiries = x.expiries, fence = x.fence, started_at = x.started_at, has_dependents = x.has_dependents`,
  ),
)

export function updateQueued(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof QUEUED_CHANGES>[],
): Promise<never[]> {
  return session.each(UPDATE_QUEUED, tenantId, rows)
}

const DUE_DELAYED = query(
  'due_delayed',
  (words) => `
    select task_id from queued
    where tenant_id = $1 and place = 'delayed' and next_eligible_at <= $2
    order by next_eligible_at, task_id
    limit $3
    ${words.passingOverLocked}`,
)

/** Locked, but for those that another transaction has locked. */
export function dueDelayed(
  session: Session,
  tenantId: string,
  { now, limit }: { now: number; limit: number },
): Promise<{ task_id: string }[]> {
  return session.all(DUE_DELAYED, [tenantId, now, limit])
}

const MARK_READY = bulk('mark_ready', { task_id: 'uuid' }, (x, words) =>
  words.update({ table: 'queued', keys: ['task_id'], input: x }, "place = 'ready', out_of_turn = true"),
)

export function markReady(
  session: Session,
  tenantId: string,
  rows: readonly { task_id: string }[],
): Promise<never[]> {
  return session.each(MARK_READY, tenantId, rows)
}

const NEXT_ELIGIBLE_AT = query(
  'next_eligible_at',
  () => "select min(next_eligible_at) as eligible_at from queued where tenant_id = $1 and place = 'delayed'",
)

export async function nextEligibleAt(session: Session, tenantId: string): Promise<number | null> {
  const [row] = await session.all<{ eligible_at: number | null }>(NEXT_ELIGIBLE_AT, [tenantId])
  return row?.eligible_at ?? null
}
