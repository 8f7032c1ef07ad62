// Which receipts a list asks for: decided here for every store, whatever an index has narrowed down before.
import { type Principal, type Receipt, samePrincipal } from '../engine/model.ts'
import type { ReceiptQuery } from './port.ts'

export function matchesReceipt(receipt: Receipt, query: ReceiptQuery): boolean {
  const { concerning } = query
  return (
    matchesPrincipal(receipt.to, query.to) &&
    matchesPrincipal(receipt.from, query.from) &&
    (concerning === null ||
      samePrincipal(receipt.to, concerning) ||
      samePrincipal(receipt.from, concerning)) &&
    (query.taskId === null || receipt.taskId === query.taskId) &&
    (query.receiptType === null || receipt.receiptType === query.receiptType)
  )
}

export function matchesPrincipal(
  principal: Principal,
  wanted: { kind: string | null; id: string | null },
): boolean {
  return (
    (wanted.kind === null || principal.kind === wanted.kind) &&
    (wanted.id === null || principal.id === wanted.id)
  )
}
