// An obligation is open if, and only if, no receipt of a discharging type names it.
import type { State } from '../state.ts'

export function* obligationProblems({ open, evidence }: State): Generator<string> {
  for (const receiptId of open) {
    if (!evidence.open.has(receiptId))
      yield `obligation ${receiptId} is called open, the ledger discharges it`
  }
  for (const receiptId of evidence.open) {
    if (!open.has(receiptId)) yield `obligation ${receiptId} is not called open, nothing discharges it`
  }
}
