// Leases. Renewals touch no indexed column, so that they stay cheap however often they come.
import { LEASE_CHANGES, LEASE_COLUMNS, type LeaseRow } from '../lease-row.ts'
import { bulk, names, query, type RowOf, type Session } from '../session.ts'

// Active leases, each time as the index says it that is meant.
export const ACTIVE = 'l.ended_at is null and l.fence > 0'
export const ACTIVE_UNDER_KEY = "l.ended_at is null and l.concurrency_key > ''"
const ACTIVE_OF_WORKER = "l.ended_at is null and l.worker_id > ''"

const LEASES_BY_ID = bulk(
  'leases_by_id',
  { lease_id: 'uuid' },
  (x, words) => `
    select ${names(LEASE_COLUMNS, 'l')}
    from ${x}
    ${words.find('leases', 'l', 'l.tenant_id = $1 and l.lease_id = x.lease_id')}`,
)

export function leasesById(
  session: Session,
  tenantId: string,
  leaseIds: readonly string[],
): Promise<LeaseRow[]> {
  return session.each(
    LEASES_BY_ID,
    tenantId,
    leaseIds.map((lease_id) => ({ lease_id })),
  )
}

const ACTIVE_LEASES = bulk(
  'active_leases',
  { task_id: 'uuid' },
  (x, words) => `
    select ${names(LEASE_COLUMNS, 'l')}
    from ${x}
    ${words.find('leases', 'l', `l.tenant_id = $1 and l.task_id = x.task_id and ${ACTIVE}`)}`,
)

export function activeLeases(
  session: Session,
  tenantId: string,
  taskIds: readonly string[],
): Promise<LeaseRow[]> {
  return session.each(
    ACTIVE_LEASES,
    tenantId,
    taskIds.map((task_id) => ({ task_id })),
  )
}

const INSERT_LEASES = bulk(
  'insert_leases',
  LEASE_COLUMNS,
  (x) => `
    insert into leases (tenant_id, ${names(LEASE_COLUMNS)})
    select $1, ${names(LEASE_COLUMNS, 'x')}
    from ${x}`,
)

export function insertLeases(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof LEASE_COLUMNS>[],
): Promise<never[]> {
  return session.each(INSERT_LEASES, tenantId, rows)
}

const UPDATE_LEASES = bulk('update_leases', LEASE_CHANGES, (x, words) =>
  words.update(
    { table: 'leases', keys: ['lease_id'], input: x },
    `expires_at = x.expires_at, check_at = x.check_at, renewals = x.renewals, ended_at = x.ended_at,
      end_kind = x.end_kind, settlement = x.settlement`,
  ),
)

export function updateLeases(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof LEASE_CHANGES>[],
): Promise<never[]> {
  return session.each(UPDATE_LEASES, tenantId, rows)
}

const ACTIVE_BY_KEY = bulk(
  'active_by_key',
  { name: 'text' },
  (x) => `
    select x.name as name, (
      select count(*) from leases l
      where l.tenant_id = $1 and l.concurrency_key = x.name and ${ACTIVE_UNDER_KEY}
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
      select count(*) from leases l
      where l.tenant_id = $1 and l.worker_id = x.name and ${ACTIVE_OF_WORKER}
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
  () => `select count(*) as active from leases l where l.tenant_id = $1 and ${ACTIVE}`,
)

export async function activeOfTenant(session: Session, tenantId: string): Promise<number> {
  const [row] = await session.all<{ active: number }>(ACTIVE_OF_TENANT, [tenantId])
  return row?.active ?? 0
}

/** Of all tenants: the sweep is the system's. */
const DUE_LEASES = query(
  'due_leases',
  () => `
    select tenant_id, task_id, lease_id from leases
    where ended_at is null and check_at > 0 and check_at <= $1
    order by check_at
    limit $2`,
)

export function dueLeases(
  session: Session,
  { now, limit }: { now: number; limit: number },
): Promise<{ tenant_id: string; task_id: string; lease_id: string }[]> {
  return session.all(DUE_LEASES, [now, limit])
}
