// The shelf of what has ended: nothing on it ever changes. And the last words on leases that did not end their task.
import {
  ENDED_COLUMNS,
  ENDED_STATE,
  type EndedRow,
  SETTLEMENT_COLUMNS,
  type SettlementRow,
} from '../ended-row.ts'
import { bulk, names, type RowOf, type Session } from '../session.ts'

const LOCK_ENDED = bulk(
  'lock_ended',
  { task_id: 'uuid' },
  (x, words) => `
    select ${ENDED_STATE}
    from ${x}
    ${words.findLocked('ended', 's', 's.tenant_id = $1 and s.task_id = x.task_id')}`,
)

/** In the order given. What is added to an ended task, such as artifacts, is added once. */
export function lockEnded(
  session: Session,
  tenantId: string,
  taskIds: readonly string[],
): Promise<EndedRow[]> {
  return session.each(
    LOCK_ENDED,
    tenantId,
    taskIds.map((task_id) => ({ task_id })),
  )
}

const INSERT_ENDED = bulk(
  'insert_ended',
  ENDED_COLUMNS,
  (x) => `
    insert into ended (tenant_id, ${names(ENDED_COLUMNS)})
    select $1, ${names(ENDED_COLUMNS, 'x')}
    from ${x}`,
)

export function insertEnded(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof ENDED_COLUMNS>[],
): Promise<never[]> {
  return session.each(INSERT_ENDED, tenantId, rows)
}

const SETTLEMENTS = bulk(
  'settlements',
  { lease_id: 'uuid' },
  (x, words) => `
    select ${names(SETTLEMENT_COLUMNS, 's')}
    from ${x}
    ${words.find('settlements', 's', 's.tenant_id = $1 and s.lease_id = x.lease_id')}`,
)

export function settlements(
  session: Session,
  tenantId: string,
  leaseIds: readonly string[],
): Promise<SettlementRow[]> {
  return session.each(
    SETTLEMENTS,
    tenantId,
    leaseIds.map((lease_id) => ({ lease_id })),
  )
}

const INSERT_SETTLEMENTS = bulk(
  'insert_settlements',
  SETTLEMENT_COLUMNS,
  (x) => `
    insert into settlements (tenant_id, ${names(SETTLEMENT_COLUMNS)})
    select $1, ${names(SETTLEMENT_COLUMNS, 'x')}
    from ${x}`,
)

export function insertSettlements(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof SETTLEMENT_COLUMNS>[],
): Promise<never[]> {
  return session.each(INSERT_SETTLEMENTS, tenantId, rows)
}
