// The ledger: receipts are only ever added. Positions are taken from the tenant's row in `ledgers` in the
// last writing step, whose lock is held to the commit: so they have no gaps and follow the order of commits.
import type { Receipt } from '../../../engine/model.ts'
import type { Usage } from '../../../engine/usage.ts'
import type { Positioned } from '../../port.ts'
import { earliestStart, keyOf, receiptsIn, SEGMENT_COLUMNS, type SegmentRow } from '../segment.ts'
import { bulk, query, type RowOf, type Session, type Words } from '../session.ts'

/** Where the segment begins that holds a position: one step down the index. `max` might be taken over the whole ledger. */
export const startOf = (position: string) => `(
      select b.first_position from ledger_segments b
      where b.tenant_id = $1 and b.first_position <= ${position}
      order by b.first_position desc
      limit 1
    )`

/** Each once, though it may hold several of what is looked for: `starts` selects where they begin. */
export const segmentsFrom = ({ among }: Words, starts: string) => `
    select s.first_position, s.receipts
    from ledger_segments s
    where s.tenant_id = $1 and ${among('s.first_position', starts)}`

/** Before every id. The index by id is made for statements that say so: see migration 0011. */
const NIL = '00000000-0000-0000-0000-000000000000'

/** Whether the ids of a segment begin before this one and end after it; `earliest` is its `earliestStart`. */
export const mayHold = (segment: string, { id, earliest }: { id: string; earliest: string }) =>
  `${segment}.first_id >= ${earliest} and ${segment}.first_id <= ${id} and ${segment}.last_id >= ${id}
      and ${segment}.first_id > '${NIL}'`

const SEGMENTS_BY_ID = bulk('segments_by_id', { receipt_id: 'uuid', earliest: 'uuid' }, (x, words) => {
  const around = `f.tenant_id = $1 and ${mayHold('f', { id: 'x.receipt_id', earliest: 'x.earliest' })}`
  return segmentsFrom(
    words,
    `select f.first_position from ${x} ${words.find('ledger_segments', 'f', around, 'f.first_id')}`,
  )
})

/** In ledger order; ids that name nothing are left out. */
export async function receiptsById(
  session: Session,
  tenantId: string,
  receiptIds: Iterable<string>,
): Promise<Positioned[]> {
  const wanted = new Set(receiptIds)
  const rows = await session.each<SegmentRow, typeof SEGMENTS_BY_ID.columns>(
    SEGMENTS_BY_ID,
    tenantId,
    [...wanted].map((receipt_id) => ({ receipt_id, earliest: earliestStart(receipt_id) })),
  )
  return [...receiptsIn(tenantId, rows)].filter(({ receipt }) => wanted.has(receipt.receiptId))
}

const SEGMENTS_BY_KEY = bulk('segments_by_key', { receipt_key: 'hex' }, (x, words) => {
  const same = `k.tenant_id = $1 and k.receipt_key = ${words.unhex('x.receipt_key')}`
  return segmentsFrom(
    words,
    `select ${startOf('k.position')} from ${x} ${words.find('receipt_keys', 'k', same)}`,
  )
})

export async function receiptsByKey(
  session: Session,
  tenantId: string,
  keys: ReadonlySet<string>,
): Promise<Map<string, Receipt>> {
  const rows = await session.each<SegmentRow, typeof SEGMENTS_BY_KEY.columns>(
    SEGMENTS_BY_KEY,
    tenantId,
    [...keys].map((receipt_key) => ({ receipt_key })),
  )
  const found = new Map<string, Receipt>()
  for (const { receipt } of receiptsIn(tenantId, rows)) {
    const key = keyOf(receipt)
    if (key !== null && keys.has(key)) found.set(key, receipt)
  }
  return found
}

const EXTEND_LEDGER = query(
  'extend_ledger',
  () => `
    insert into ledgers (tenant_id, next_position, active_tasks, receipt_bytes, room)
    values ($1, 1 + $2, $3, $4, coalesce(cast($5 as bigint) - $3, 0))
    on conflict (tenant_id) do update set next_position = ledgers.next_position + $2,
      active_tasks = ledgers.active_tasks + $3, receipt_bytes = ledgers.receipt_bytes + $4,
      room = coalesce(cast($5 as bigint) - ledgers.active_tasks - $3, 0)`,
)

export interface Extension {
  readonly count: number
  readonly usage: Usage
  /** The transaction fails, to be decided again, when there would be more; null: no matter how many. */
  readonly activeTasksMax: number | null
}

/** From here to the commit no other transaction of the tenant can add receipts. */
export function extendLedger(session: Session, tenantId: string, of: Extension): Promise<never[]> {
  const { activeTasks, receiptBytes } = of.usage
  return session.all(EXTEND_LEDGER, [tenantId, of.count, activeTasks, receiptBytes, of.activeTasksMax])
}

/** Where a receipt is that stands so far from the end of the ledger. */
export const positionOf = (back: string) =>
  `(select next_position from ledgers where tenant_id = $1) - ${back}`

const INSERT_SEGMENTS = bulk(
  'insert_segments',
  SEGMENT_COLUMNS,
  (x) => `
    insert into ledger_segments (tenant_id, first_position, last_position, first_id, last_id, receipts)
    select $1, ${positionOf('x.back')}, ${positionOf('x.back')} + x.count - 1, x.first_id, x.last_id, x.receipts
    from ${x}`,
)

export function insertSegments(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof SEGMENT_COLUMNS>[],
): Promise<never[]> {
  return session.each(INSERT_SEGMENTS, tenantId, rows)
}

const KEYED = { back: 'int', receipt_key: 'hex' } as const

const INSERT_KEYS = bulk(
  'insert_receipt_keys',
  KEYED,
  (x, { unhex }) => `
    insert into receipt_keys (tenant_id, receipt_key, position)
    select $1, ${unhex('x.receipt_key')}, ${positionOf('x.back')}
    from ${x}`,
)

/** The same fact twice is refused, so that its unit is decided again and finds the first. */
export function insertKeys(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof KEYED>[],
): Promise<never[]> {
  return session.each(INSERT_KEYS, tenantId, rows)
}
