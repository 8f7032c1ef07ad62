// What the ledger says of schedules, in the form in which the file learns it.
import type { Receipt as ReceiptSchema } from '@asyncgate/sdk'
import type { z } from 'zod'
import { Definition, type Owner } from './schedule.ts'

export type Receipt = z.output<typeof ReceiptSchema>

/**
 * In the order in which they are read: whatever ends or changes something is read before what it ends or changes, so that the
 * latter is never missing when they are put together.
 */
export const LEDGER_TYPES = [
  'schedule.deleted',
  'schedule.resumed',
  'schedule.paused',
  'schedule.created',
] as const
export type LedgerType = (typeof LEDGER_TYPES)[number]

/** The last receipt of each type that was read. */
export type Followed = Readonly<Partial<Record<LedgerType, string>>>

export function sameFollowed(a: Followed, b: Followed): boolean {
  return LEDGER_TYPES.every((type) => a[type] === b[type])
}

export interface News {
  /** It is all that there is, and what it does not name is no more. */
  readonly isWhole: boolean
  readonly followed: Followed
  readonly created: readonly {
    readonly scheduleId: string
    readonly owner: Owner
    readonly definition: Definition
    readonly receiptId: string
  }[]
  readonly paused: readonly { readonly scheduleId: string; readonly receiptId: string }[]
  /** A pause is over when a receipt names the one that began it. */
  readonly resumed: readonly {
    readonly scheduleId: string
    readonly pausedBy: string
    readonly at: number
  }[]
  readonly deleted: readonly { readonly scheduleId: string }[]
}

export type Found = Readonly<Record<LedgerType, readonly Receipt[]>>

export function newsOf(found: Found, { before, isWhole }: { before: Followed; isWhole: boolean }): News {
  const last = LEDGER_TYPES.map((type) => [type, found[type].at(-1)?.receipt_id ?? before[type]] as const)
  return {
    isWhole,
    followed: Object.fromEntries(last.filter(([, receiptId]) => receiptId !== undefined)),
    created: found['schedule.created'].flatMap(creationOf),
    paused: about(found['schedule.paused']),
    resumed: about(found['schedule.resumed']).flatMap(({ scheduleId, receipt }) =>
      receipt.parents.map((pausedBy) => ({ scheduleId, pausedBy, at: Date.parse(receipt.created_at) })),
    ),
    deleted: about(found['schedule.deleted']),
  }
}

/** A receipt that another program submitted under this name, and that says no schedule, is none of ours. */
function creationOf(receipt: Receipt): News['created'] {
  const definition = Definition.safeParse(receipt.body)
  if (receipt.schedule_id === null || !definition.success) return []
  const owner = { principal_kind: receipt.to.kind, principal_id: receipt.to.id }
  return [
    {
      scheduleId: receipt.schedule_id,
      owner,
      definition: definition.data,
      receiptId: receipt.receipt_id,
    },
  ]
}

function about(receipts: readonly Receipt[]) {
  return receipts.flatMap((receipt) =>
    receipt.schedule_id === null
      ? []
      : [{ scheduleId: receipt.schedule_id, receiptId: receipt.receipt_id, receipt }],
  )
}
