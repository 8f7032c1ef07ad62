// Receipts between rows and values.
import { isRepeatable, receiptKey } from '../../engine/ledger.ts'
import type { JsonObject, PrincipalKind, Receipt } from '../../engine/model.ts'
import type { Positioned } from '../port.ts'
import type { RowOf, Words } from './session.ts'

/** `back` counts from the end of the ledger as the transaction leaves it: 1 is the last receipt. */
export const RECEIPT_COLUMNS = {
  back: 'int',
  receipt_id: 'uuid',
  receipt_type: 'text',
  created_at: 'bigint',
  from_kind: 'text',
  from_id: 'text',
  to_kind: 'text',
  to_id: 'text',
  task_id: 'uuid',
  lease_id: 'uuid',
  schedule_id: 'text',
  parents: 'json',
  body: 'json',
  hash: 'hex',
  receipt_key: 'hex',
  instance: 'text',
} as const

/** A receipt as it is selected: `r` is receipts. */
export function receiptColumns({ hex }: Words): string {
  return `r.tenant_id, r.position, r.receipt_id, r.receipt_type, r.created_at, r.from_kind, r.from_id, r.to_kind, r.to_id,
    r.task_id, r.lease_id, r.schedule_id, r.parents, r.body, ${hex('r.hash')} as hash,
    ${hex('r.receipt_key')} as receipt_key, r.instance`
}

export interface ReceiptRow {
  readonly tenant_id: string
  readonly position: number
  readonly receipt_id: string
  readonly receipt_type: string
  readonly created_at: number
  readonly from_kind: PrincipalKind
  readonly from_id: string
  readonly to_kind: PrincipalKind
  readonly to_id: string
  readonly task_id: string | null
  readonly lease_id: string | null
  readonly schedule_id: string | null
  readonly parents: string
  readonly body: string
  readonly hash: string
  readonly receipt_key: string | null
  readonly instance: string
}

export function receiptToRow(receipt: Receipt, back: number): RowOf<typeof RECEIPT_COLUMNS> {
  return {
    back,
    receipt_id: receipt.receiptId,
    receipt_type: receipt.receiptType,
    created_at: receipt.createdAt,
    from_kind: receipt.from.kind,
    from_id: receipt.from.id,
    to_kind: receipt.to.kind,
    to_id: receipt.to.id,
    task_id: receipt.taskId,
    lease_id: receipt.leaseId,
    schedule_id: receipt.scheduleId,
    parents: receipt.parents,
    body: receipt.body,
    hash: receipt.hash,
    receipt_key: isRepeatable(receipt.receiptType) ? receiptKey(receipt, receipt.hash) : null,
    instance: receipt.instance,
  }
}

export function receiptFromRow(row: ReceiptRow): Receipt {
  return {
    receiptType: row.receipt_type,
    from: { kind: row.from_kind, id: row.from_id },
    to: { kind: row.to_kind, id: row.to_id },
    taskId: row.task_id,
    leaseId: row.lease_id,
    scheduleId: row.schedule_id,
    parents: JSON.parse(row.parents) as string[], // written from a list of ids
    body: JSON.parse(row.body) as JsonObject, // written from a JsonObject
    receiptId: row.receipt_id,
    tenantId: row.tenant_id,
    createdAt: row.created_at,
    bodyBytes: Buffer.byteLength(row.body),
    hash: row.hash,
    instance: row.instance,
  }
}

export function positionedFromRow(row: ReceiptRow): Positioned {
  return { position: row.position, receipt: receiptFromRow(row) }
}
