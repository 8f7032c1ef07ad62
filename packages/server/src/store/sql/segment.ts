// Receipts as the ledger keeps them: those of one commit in segments, each one row with up to two dozen of them as JSON. A
// row of its own, with three indexes, cost PostgreSQL 19 µs for each receipt; as a part of a segment it is bytes.
import { isRepeatable, receiptKey } from '../../engine/ledger.ts'
import type { JsonObject, PrincipalKind, Receipt } from '../../engine/model.ts'
import type { Usage } from '../../engine/usage.ts'
import type { Positioned } from '../port.ts'
import type { RowOf } from './session.ts'

/** A list that wants one of them reads them all. */
const SEGMENT_RECEIPTS_MAX = 24
/** What fills a page of PostgreSQL: a longer row would be compressed, and kept apart from the others. */
const SEGMENT_BYTES_MAX = 8_000

/**
 * In the order of the ledger. `through` counts the receipts of the commit up to the end of the segment; what the commit adds to
 * the usage of the tenant is the same in all.
 */
export const SEGMENT_COLUMNS = {
  count: 'int',
  through: 'int',
  active_tasks: 'int',
  receipt_bytes: 'bigint',
  active_tasks_max: 'bigint',
  first_id: 'uuid',
  last_id: 'uuid',
  receipts: 'text',
} as const

export interface SegmentRow {
  readonly first_position: number
  readonly receipts: string
}

/** The view `receipts` names these members in the same order (migration 0011). */
type Entry = readonly [
  receiptId: string,
  receiptType: string,
  createdAt: number,
  fromKind: PrincipalKind,
  fromId: string,
  toKind: PrincipalKind,
  toId: string,
  taskId: string | null,
  leaseId: string | null,
  scheduleId: string | null,
  parents: readonly string[],
  body: JsonObject,
  bodyBytes: number,
  hash: string,
  receiptKey: string | null,
  instance: string,
]

type Segment = RowOf<typeof SEGMENT_COLUMNS>

export interface Extension {
  /** Of one commit, in their order. */
  readonly receipts: readonly Receipt[]
  readonly usage: Usage
  /** The transaction fails, to be decided again, when there would be more; null: no matter how many. */
  readonly activeTasksMax: number | null
}

export function segmentsOf({ receipts, usage, activeTasksMax }: Extension): Segment[] {
  const segments: Segment[] = []
  const { activeTasks: active_tasks, receiptBytes: receipt_bytes } = usage
  for (let start = 0; start < receipts.length; ) {
    const end = endOfSegment(receipts, start)
    segments.push({
      through: end,
      active_tasks,
      receipt_bytes,
      active_tasks_max: activeTasksMax,
      ...segmentOf(receipts.slice(start, end)),
    })
    start = end
  }
  return segments
}

/** The ids of a segment are of one millisecond, as those of a commit are: see `earliestStart`. */
function endOfSegment(receipts: readonly Receipt[], start: number): number {
  const time = timeOf(receipts[start]!.receiptId)
  let bytes = aboutBytes(receipts[start]!)
  let end = start + 1
  for (; end < receipts.length && end - start < SEGMENT_RECEIPTS_MAX; end += 1) {
    const receipt = receipts[end]!
    bytes += aboutBytes(receipt)
    if (bytes > SEGMENT_BYTES_MAX || timeOf(receipt.receiptId) !== time) break
  }
  return end
}

/** Ids, hash, kinds and punctuation; rather a tenth too many than too few. */
const BYTES_BESIDE_BODY = 340
const PARENT_BYTES = 39

function aboutBytes({ bodyBytes, parents, from, to }: Receipt): number {
  return BYTES_BESIDE_BODY + bodyBytes + PARENT_BYTES * parents.length + from.id.length + to.id.length
}

function segmentOf(receipts: readonly Receipt[]) {
  let first = receipts[0]!.receiptId
  let last = first
  for (const { receiptId } of receipts) {
    if (receiptId < first) first = receiptId
    else if (receiptId > last) last = receiptId
  }
  return {
    count: receipts.length,
    first_id: first,
    last_id: last,
    receipts: JSON.stringify(receipts.map(toEntry)),
  }
}

export const TIME_LENGTH = 'tttttttt-tttt'.length
export const FIRST_OF_TIME = '-0000-0000-000000000000'

/** The milliseconds that a UUIDv7 begins with, as they are written. */
const timeOf = (id: string) => id.slice(0, TIME_LENGTH)

/**
 * The least id that a segment with this one can begin with. So a lookup reads the segments of one millisecond, however long
 * the ledger has grown and whatever the clocks of its writers said; of an id that somebody made up it finds none.
 */
export const earliestStart = (id: string) => `${timeOf(id)}${FIRST_OF_TIME}`

function toEntry(receipt: Receipt): Entry {
  return [
    receipt.receiptId,
    receipt.receiptType,
    receipt.createdAt,
    receipt.from.kind,
    receipt.from.id,
    receipt.to.kind,
    receipt.to.id,
    receipt.taskId,
    receipt.leaseId,
    receipt.scheduleId,
    receipt.parents,
    receipt.body,
    receipt.bodyBytes,
    receipt.hash,
    keyOf(receipt),
    receipt.instance,
  ]
}

export function keyOf(receipt: Receipt): string | null {
  return isRepeatable(receipt.receiptType) ? receiptKey(receipt, receipt.hash) : null
}

/** In ledger order. A segment that was found twice counts once. */
export function* receiptsIn(tenantId: string, rows: Iterable<SegmentRow>): Generator<Positioned> {
  const segments = new Map([...rows].map((row) => [row.first_position, row.receipts]))
  for (const [first, text] of [...segments].toSorted(([a], [b]) => a - b)) {
    const entries = JSON.parse(text) as Entry[] // written from entries
    for (const [index, entry] of entries.entries()) {
      yield { position: first + index, receipt: fromEntry(tenantId, entry) }
    }
  }
}

function fromEntry(tenantId: string, entry: Entry): Receipt {
  const [receiptId, receiptType, createdAt, fromKind, fromId, toKind, toId, ...others] = entry
  const [taskId, leaseId, scheduleId, parents, body, bodyBytes, hash, , instance] = others
  return {
    receiptType,
    from: { kind: fromKind, id: fromId },
    to: { kind: toKind, id: toId },
    taskId,
    leaseId,
    scheduleId,
    parents,
    body,
    receiptId,
    tenantId,
    createdAt,
    bodyBytes,
    hash,
    instance,
  }
}
