// Receipts and the obligations that they open and discharge.
import { DISCHARGED_BY, discharges, isTerminalType, opensObligation } from '../../engine/ledger.ts'
import type { Receipt } from '../../engine/model.ts'
import { receiptToRow } from './receipt-row.ts'
import type { Session } from './session.ts'
import { extendLedger, type Extension, insertReceipts } from './statements/ledger.ts'
import { markPages } from './statements/ledger-pages.ts'
import { dischargeObligations, insertObligations } from './statements/obligations.ts'

/** Whatever changes what a tenant uses leaves receipts. */
export function writeLedger(
  session: Session,
  tenantId: string,
  { receipts, ...use }: Omit<Extension, 'count'> & { readonly receipts: readonly Receipt[] },
): Promise<unknown> {
  if (receipts.length === 0) return Promise.resolve()
  const rows = receipts.map((receipt, index) => receiptToRow(receipt, receipts.length - index))
  return Promise.all([
    extendLedger(session, tenantId, { count: receipts.length, ...use }),
    insertReceipts(session, tenantId, rows),
    markPages(session, tenantId, receipts),
    insertObligations(
      session,
      tenantId,
      rows
        .filter((row) => opensObligation(row.receipt_type ?? ''))
        .map(({ back, receipt_id, receipt_type, to_kind, to_id }) => ({
          back,
          receipt_id,
          receipt_type,
          to_kind,
          to_id,
        })),
    ),
    dischargeObligations(session, tenantId, discharged(receipts)),
  ])
}

/**
 * For each parent the first receipt that could discharge it; the statement checks that it is such an
 * obligation.
 */
function discharged(receipts: readonly Receipt[]) {
  const rows = new Map<string, { receipt_id: string; receipt_type: string; discharged_by: string }>()
  for (const { receiptId, receiptType, parents } of receipts) {
    if (!isTerminalType(receiptType)) continue
    for (const type of Object.keys(DISCHARGED_BY).filter((opened) => discharges(receiptType, opened))) {
      for (const parent of parents) {
        const key = `${parent} ${type}`
        if (!rows.has(key))
          rows.set(key, { receipt_id: parent, receipt_type: type, discharged_by: receiptId })
      }
    }
  }
  return [...rows.values()]
}
