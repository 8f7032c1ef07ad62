// The ledger: receipts are only ever added, behind its last segment, under a lock that is taken in the last writing step and held
// to the commit: so positions have no gaps and follow the order of commits. With each segment stands what the tenant uses
// from then on. Nothing is written anew: a counter would be, by each commit, and PostgreSQL would step over all that it has been
// while anybody reads for long.
import type { Receipt } from '../../../engine/model.ts'
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
export const NIL = '00000000-0000-0000-0000-000000000000'

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

const HOLD_LEDGER = query('hold_ledger', (words) => words.holdLedger)

/** From here to the commit no other transaction of the tenant can add receipts. */
export function holdLedger(session: Session, tenantId: string): Promise<never[]> {
  return session.all(HOLD_LEDGER, [tenantId])
}

export const LAST_SEGMENT =
  'from ledger_segments e where e.tenant_id = $1 order by e.first_position desc limit 1'

/** Where a receipt is that stands so far from the end of the ledger: 1 is the last. */
export const positionOf = (back: string) => `(select e.last_position ${LAST_SEGMENT}) + 1 - ${back}`

/** All are behind what was last before the statement, or, where it is run for each row, before that row. */
const INSERT_SEGMENTS = bulk('insert_segments', SEGMENT_COLUMNS, (x, { takesAllRows, once }) => {
  const through = takesAllRows ? 'x.through' : 'x.count'
  const more = (column: string) =>
    takesAllRows ? `x.${column}` : `case when x.through = x.count then x.${column} else 0 end`
  return `
    insert into ledger_segments (tenant_id, first_position, last_position, first_id, last_id, receipts, active_tasks,
      receipt_bytes, room)
    select $1, coalesce(h.last_position, 0) + ${through} - x.count + 1, coalesce(h.last_position, 0) + ${through},
      x.first_id, x.last_id, x.receipts, coalesce(h.active_tasks, 0) + ${more('active_tasks')},
      coalesce(h.receipt_bytes, 0) + ${more('receipt_bytes')},
      coalesce(x.active_tasks_max - coalesce(h.active_tasks, 0) - ${more('active_tasks')}, 0)
    from ${x}
    left join ${once(`select e.last_position, e.active_tasks, e.receipt_bytes ${LAST_SEGMENT}`)} as h on true`
})

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
