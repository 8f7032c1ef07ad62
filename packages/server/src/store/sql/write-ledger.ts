// Receipts and the obligations that they open and discharge.
import { DISCHARGED_BY, discharges, isTerminalType, opensObligation } from '../../engine/ledger.ts'
import type { Receipt } from '../../engine/model.ts'
import { keyOf, segmentsOf } from './segment.ts'
import type { Session } from './session.ts'
import { extendLedger, type Extension, insertKeys, insertSegments } from './statements/ledger.ts'
import { markPages, markTasks } from './statements/ledger-pages.ts'
import { dischargeObligations, insertObligations } from './statements/obligations.ts'

/** Whatever changes what a tenant uses leaves receipts. */
export function writeLedger(
  session: Session,
  tenantId: string,
  { receipts, ...use }: Omit<Extension, 'count'> & { readonly receipts: readonly Receipt[] },
): Promise<unknown> {
  if (receipts.length === 0) return Promise.resolve()
  return Promise.all([
    extendLedger(session, tenantId, { count: receipts.length, ...use }),
    insertSegments(session, tenantId, segmentsOf(receipts)),
    insertKeys(session, tenantId, keyed(receipts)),
    markTasks(session, tenantId, receipts),
    markPages(session, tenantId, receipts),
    insertObligations(session, tenantId, opened(receipts)),
    dischargeObligations(session, tenantId, discharged(receipts)),
  ])
}

function keyed(receipts: readonly Receipt[]) {
  return receipts.flatMap((receipt, index) => {
    const receipt_key = keyOf(receipt)
    return receipt_key === null ? [] : [{ back: receipts.length - index, receipt_key }]
  })
}

function opened(receipts: readonly Receipt[]) {
  return receipts.flatMap(({ receiptId, receiptType, to }, index) =>
    opensObligation(receiptType)
      ? [
          {
            back: receipts.length - index,
            receipt_id: receiptId,
            receipt_type: receiptType,
            to_kind: to.kind,
            to_id: to.id,
          },
        ]
      : [],
  )
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
