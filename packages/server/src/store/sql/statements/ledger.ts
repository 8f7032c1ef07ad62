// The ledger: receipts are only ever added. Positions are taken from the tenant's row in `ledgers` in the
// last writing step, whose lock is held to the commit: so they have no gaps and follow the order of commits.
import type { Usage } from '../../../engine/usage.ts'
import { RECEIPT_COLUMNS, receiptColumns, type ReceiptRow } from '../receipt-row.ts'
import { bulk, query, type RowOf, type Session } from '../session.ts'

const RECEIPTS_BY_ID = bulk(
  'receipts_by_id',
  { receipt_id: 'uuid' },
  (x, words) => `
    select ${receiptColumns(words)}
    from ${x}
    ${words.find('receipts', 'r', 'r.tenant_id = $1 and r.receipt_id = x.receipt_id')}`,
)

export function receiptsById(
  session: Session,
  tenantId: string,
  receiptIds: readonly string[],
): Promise<ReceiptRow[]> {
  return session.each(
    RECEIPTS_BY_ID,
    tenantId,
    receiptIds.map((receipt_id) => ({ receipt_id })),
  )
}

const RECEIPTS_BY_KEY = bulk(
  'receipts_by_key',
  { receipt_key: 'hex' },
  (x, words) => `
    select ${receiptColumns(words)}
    from ${x}
    ${words.find('receipts', 'r', `r.tenant_id = $1 and r.receipt_key = ${words.unhex('x.receipt_key')} and r.receipt_key is not null`)}`,
)

export function receiptsByKey(
  session: Session,
  tenantId: string,
  keys: readonly string[],
): Promise<ReceiptRow[]> {
  return session.each(
    RECEIPTS_BY_KEY,
    tenantId,
    keys.map((receipt_key) => ({ receipt_key })),
  )
}

const EXTEND_LEDGER = query(
  'extend_ledger',
  () => `
    insert into ledgers (tenant_id, next_position, active_tasks, receipt_bytes, room)
    values ($1, 1 + $2, $3, $4, coalesce(cast($5 as bigint) - $3, 0))
    on conflict (tenant_id) do update set next_position = ledgers.next_position + $2,
      active_tasks = ledgers.active_tasks + $3, receipt_bytes = ledgers.receipt_bytes + $4,
      room = coalesce(cast($5 as bigint) - ledgers.active_tasks - $3, 0)`,
)

export interface Extension {
  readonly count: number
  readonly usage: Usage
  /** The transaction fails, to be decided again, when there would be more; null: no matter how many. */
  readonly activeTasksMax: number | null
}

/** From here to the commit no other transaction of the tenant can add receipts. */
export function extendLedger(session: Session, tenantId: string, of: Extension): Promise<never[]> {
  const { activeTasks, receiptBytes } = of.usage
  return session.all(EXTEND_LEDGER, [tenantId, of.count, activeTasks, receiptBytes, of.activeTasksMax])
}

const INSERT_RECEIPTS = bulk(
  'insert_receipts',
  RECEIPT_COLUMNS,
  (x, { unhex }) => `
    insert into receipts (tenant_id, position, receipt_id, receipt_type, created_at, from_kind, from_id, to_kind, to_id,
      task_id, lease_id, schedule_id, parents, body, hash, receipt_key, instance)
    select $1, (select next_position from ledgers where tenant_id = $1) - x.back, x.receipt_id, x.receipt_type,
      x.created_at, x.from_kind, x.from_id, x.to_kind, x.to_id, x.task_id, x.lease_id, x.schedule_id, x.parents, x.body,
      ${unhex('x.hash')}, ${unhex('x.receipt_key')}, x.instance
    from ${x}`,
)

export function insertReceipts(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof RECEIPT_COLUMNS>[],
): Promise<never[]> {
  return session.each(INSERT_RECEIPTS, tenantId, rows)
}
