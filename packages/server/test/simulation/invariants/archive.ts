// The ledger only grows: what was read once is read again unchanged, at the same place, with the hash it must have and
// parents that came before it.
import type { Receipt } from '../../../src/engine/model.ts'
import type { Positioned } from '../../../src/store/port.ts'
import { hashOf } from '../evidence.ts'

export interface Archive {
  /** Cheap: new entries in full, old ones by identity, and a few of them letter by letter. */
  problems(ledger: readonly Positioned[]): Generator<string>
  /** Every entry letter by letter. */
  allProblems(ledger: readonly Positioned[]): Generator<string>
}

const REREAD_PER_CHECK = 3

export function createArchive(): Archive {
  const kept: { receipt: Receipt; text: string }[] = []
  const ids = new Set<string>()
  let next = 0

  function* rewritten(ledger: readonly Positioned[], index: number): Generator<string> {
    const { receipt } = ledger[index]!
    if (JSON.stringify(receipt) !== kept[index]!.text) {
      yield `ledger entry ${index + 1} was rewritten: ${kept[index]!.text} → ${JSON.stringify(receipt)}`
    }
  }

  function* old(ledger: readonly Positioned[]): Generator<string> {
    if (ledger.length < kept.length) yield `the ledger shrank from ${kept.length} to ${ledger.length} entries`
    for (let index = 0; index < Math.min(kept.length, ledger.length); index++) {
      if (ledger[index]!.receipt !== kept[index]!.receipt) yield* rewritten(ledger, index)
    }
  }

  function* fresh(ledger: readonly Positioned[]): Generator<string> {
    for (let index = kept.length; index < ledger.length; index++) {
      const { position, receipt } = ledger[index]!
      if (position !== index + 1) yield `ledger entry ${index + 1} has position ${position}`
      if (receipt.hash !== hashOf(receipt))
        yield `${receipt.receiptType} ${receipt.receiptId} has a wrong hash`
      if (ids.has(receipt.receiptId)) yield `receipt ${receipt.receiptId} is in the ledger twice`
      for (const parent of receipt.parents) {
        if (!ids.has(parent)) yield `${receipt.receiptType} names ${parent}, which does not come before it`
      }
      ids.add(receipt.receiptId)
      kept.push({ receipt, text: JSON.stringify(receipt) })
    }
  }

  return {
    problems: function* (ledger) {
      yield* old(ledger)
      yield* fresh(ledger)
      for (let count = 0; count < Math.min(REREAD_PER_CHECK, ledger.length); count++) {
        next = (next + 1) % ledger.length
        yield* rewritten(ledger, next)
      }
    },
    allProblems: function* (ledger) {
      for (let index = 0; index < kept.length; index++) yield* rewritten(ledger, index)
    },
  }
}
