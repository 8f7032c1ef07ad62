// Receipts and the obligations that they open and discharge.
import { dischargedTypes, opensObligation } from '../../engine/ledger.ts'
import { compare } from '../../engine/matching.ts'
import type { Receipt } from '../../engine/model.ts'
import { type Extension, keyOf, segmentsOf } from './segment.ts'
import type { Session } from './session.ts'
import type { SortedLeases } from './sort-leases.ts'
import { holdLedger, insertKeys, insertSegments } from './statements/ledger.ts'
import { markNoLongerNamed, markPages, markTasks } from './statements/ledger-pages.ts'
import { dischargeObligations, insertObligations, nameDischarges } from './statements/obligations.ts'

interface Entries extends Extension {
  /** Those of them that ended a task, with the receipt that its obligation was opened by. */
  readonly ends: ReadonlyMap<string, string>
  readonly leases: SortedLeases
}

/** Whatever changes what a tenant uses leaves receipts. */
export function writeLedger(
  session: Session,
  tenantId: string,
  { ends, leases, ...extension }: Entries,
): Promise<unknown> {
  const { receipts } = extension
  if (receipts.length === 0) return markNoLongerNamed(session, tenantId, leases.former)
  const closed = discharged(receipts)
  const named = closed.filter(({ receipt_id, discharged_by }) => ends.get(discharged_by) !== receipt_id)
  const opening = opened(receipts)
  const own = new Set(opening.map((row) => row.receipt_id))
  const isOwn = ({ receipt_id }: Discharge) => own.size > 0 && own.has(receipt_id)
  const isEarlier = (row: Discharge) => !isOwn(row)
  return Promise.all([
    nameDischarges(session, tenantId, named.filter(isEarlier)),
    dischargeObligations(session, tenantId, closed.filter(isEarlier)),
    holdLedger(session, tenantId),
    insertSegments(session, tenantId, segmentsOf(extension)),
    insertKeys(session, tenantId, keyed(receipts)),
    // Behind the lock, like all marks: whoever marks a page before it could wait for who marks the same page behind it.
    markNoLongerNamed(session, tenantId, leases.former),
    markTasks(session, tenantId, {
      receipts,
      named: new Set([...ends.keys(), ...leases.named.map(({ leaseId }) => leaseId)]),
    }),
    markPages(session, tenantId, receipts),
    insertObligations(session, tenantId, opening),
    nameDischarges(session, tenantId, named.filter(isOwn)),
    dischargeObligations(session, tenantId, closed.filter(isOwn)),
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

type Discharge = {
  readonly receipt_id: string
  readonly receipt_type: string
  readonly discharged_by: string
}

/**
 * For each parent the first receipt that could discharge it; the statement checks that it is such an obligation. In one
 * order, since others may discharge the same ones: their rows are locked, before the ledger is.
 */
function discharged(receipts: readonly Receipt[]): Discharge[] {
  const rows: Discharge[] = []
  for (const { receiptId, receiptType, parents } of receipts) {
    for (const receipt_type of dischargedTypes(receiptType)) {
      for (const receipt_id of parents) rows.push({ receipt_id, receipt_type, discharged_by: receiptId })
    }
  }
  rows.sort(byObligation) // which keeps the first of each in front
  return rows.filter((row, at) => at === 0 || byObligation(rows[at - 1]!, row) !== 0)
}

function byObligation(a: Discharge, b: Discharge): number {
  return compare(a.receipt_id, b.receipt_id) || compare(a.receipt_type, b.receipt_type)
}
