// The hash of a receipt, recomputed from nothing but the receipt as it is on the wire: what anybody could do in any
// language. It shares no code with the server on purpose.
import { createHash } from 'node:crypto'
import type { GateContract, Output } from '@asyncgate/sdk'

export type WireReceipt = Output<GateContract['listReceipts']>['receipts'][number]

export function recomputeHash(receipt: WireReceipt): string {
  const { receipt_type, from, to, task_id, lease_id, schedule_id, body } = receipt
  const parents = [...receipt.parents].sort()
  const text = rfc8785({ receipt_type, from, to, task_id, lease_id, schedule_id, parents, body })
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

function rfc8785(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(rfc8785).join()}]`
  if (typeof value === 'object' && value !== null) {
    const object = value as Record<string, unknown>
    const keys = Object.keys(object).sort() // by UTF-16 code units, as the RFC asks
    return `{${keys.map((key) => `${JSON.stringify(key)}:${rfc8785(object[key])}`).join()}}`
  }
  if (typeof value === 'number') return String(value === 0 ? 0 : value)
  return JSON.stringify(value)
}
