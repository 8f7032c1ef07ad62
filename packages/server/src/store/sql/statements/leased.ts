// The shelf of what workers hold: each task with its lease. Starts and renewals touch no indexed column, so that they stay
// cheap however often they come.
import { LEASED_CHANGES, LEASED_COLUMNS, LEASED_STATE, type LeasedRow, RENEWAL } from '../leased-row.ts'
import { bulk, names, query, type RowOf, type Session } from '../session.ts'

// As the index says it that is meant.
export const UNDER_KEY = "l.concurrency_key > ''"
const OF_WORKER = "l.worker_id > ''"

const LOCK_LEASED = bulk(
  'lock_leased',
  { task_id: 'uuid' },
  (x, words) => `
    select ${LEASED_STATE}, ${words.address('s')} as address
    from ${x}
    ${words.findLocked('leased', 's', 's.tenant_id = $1 and s.task_id = x.task_id')}`,
)

/** In the order given. */
export function lockLeased(
  session: Session,
  tenantId: string,
  taskIds: readonly string[],
): Promise<LeasedRow[]> {
  return session.each(
    LOCK_LEASED,
    tenantId,
    taskIds.map((task_id) => ({ task_id })),
  )
}

const INSERT_LEASED = bulk(
  'insert_leased',
  LEASED_COLUMNS,
  (x) => `
    insert into leased (tenant_id, ${names(LEASED_COLUMNS)})
    select $1, ${names(LEASED_COLUMNS, 'x')}
    from ${x}`,
)

export function insertLeased(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof LEASED_COLUMNS>[],
): Promise<never[]> {
  return session.each(INSERT_LEASED, tenantId, rows)
}

const UPDATE_LEASED = bulk('update_leased', LEASED_CHANGES, (x, words) =>
  words.update(
    { table: 'leased', keys: ['task_id'], input: x },
    `status = x.status, updated_at = x.updated_at, started_at = x.started_at, has_dependents = x.has_dependents`,
  ),
)

export function updateLeased(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof LEASED_CHANGES>[],
): Promise<never[]> {
  return session.each(UPDATE_LEASED, tenantId, rows)
}

const RENEW_LEASES = bulk('renew_leases', RENEWAL, (x, words) =>
  words.update(
    { table: 'leased', keys: ['task_id'], input: x },
    'expires_at = x.expires_at, check_at = x.check_at, renewals = x.renewals',
  ),
)

export function renewLeases(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof RENEWAL>[],
): Promise<never[]> {
  return session.each(RENEW_LEASES, tenantId, rows)
}

const ACTIVE_BY_KEY = bulk(
  'active_by_key',
  { name: 'text' },
  (x) => `
    select x.name as name, (
      select count(*) from leased l
      where l.tenant_id = $1 and l.concurrency_key = x.name and ${UNDER_KEY}
    ) as active
    from ${x}`,
)

export interface Count {
  readonly name: string
  readonly active: number
}

export function activeByKey(session: Session, tenantId: string, keys: readonly string[]): Promise<Count[]> {
  return session.each(
    ACTIVE_BY_KEY,
    tenantId,
    keys.map((name) => ({ name })),
  )
}

const ACTIVE_BY_WORKER = bulk(
  'active_by_worker',
  { name: 'text' },
  (x) => `
    select x.name as name, (
      select count(*) from leased l
      where l.tenant_id = $1 and l.worker_id = x.name and ${OF_WORKER}
    ) as active
    from ${x}`,
)

export function activeByWorker(
  session: Session,
  tenantId: string,
  workers: readonly string[],
): Promise<Count[]> {
  return session.each(
    ACTIVE_BY_WORKER,
    tenantId,
    workers.map((name) => ({ name })),
  )
}

const ACTIVE_OF_TENANT = query(
  'active_of_tenant',
  () => 'select count(*) as active from leased l where l.tenant_id = $1',
)

export async function activeOfTenant(session: Session, tenantId: string): Promise<number> {
  const [row] = await session.all<{ active: number }>(ACTIVE_OF_TENANT, [tenantId])
  return row?.active ?? 0
}

/** Of all tenants: the sweep is the system's. */
const DUE_LEASES = query(
  'due_leases',
  () => `
    select tenant_id, task_id, lease_id from leased
    where check_at > 0 and check_at > $3 and check_at <= $1
    order by check_at
    limit $2`,
)

export function dueLeases(
  session: Session,
  { now, limit, after = 0 }: { now: number; limit: number; after?: number | undefined },
): Promise<{ tenant_id: string; task_id: string; lease_id: string }[]> {
  return session.all(DUE_LEASES, [now, limit, after])
}
