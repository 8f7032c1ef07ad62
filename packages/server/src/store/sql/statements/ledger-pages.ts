// Which pages of the ledger hold receipts of a task, or to, from or of what: lists read just those pages, however long the
// ledger has grown. One row for each page and mark stands in for an index entry for each receipt and mark: that took 17 of
// the 43 µs that a receipt cost PostgreSQL, and a third of its log.
import type { Receipt } from '../../../engine/model.ts'
import { bulk, type RowOf, type Session } from '../session.ts'
import { positionOf } from './ledger.ts'

/** Positions on one page. A list whose matches lie far apart reads this many receipts for each of them. */
export const PAGE_POSITIONS = 128
/** Half a page of receipts lies on two pages at most: those of the first and of the last. */
const STRETCH = PAGE_POSITIONS / 2

/** SQLite divides what was bound as a number like a fraction. */
export const pageOf = (position: string) => `cast(${position} as bigint) / ${PAGE_POSITIONS}`

export const markTo = (id: string) => `to ${id}`
export const markFrom = (id: string) => `from ${id}`
export const markType = (receiptType: string) => `type ${receiptType}`

const MARKED = { back: 'int', mark: 'text' } as const

const MARK_PAGES = bulk(
  'mark_pages',
  MARKED,
  (x) => `
    insert into ledger_pages (tenant_id, mark, page)
    select distinct $1, x.mark, ${pageOf(`(${positionOf('x.back')})`)}
    from ${x}
    where true
    on conflict do nothing`,
)

/** The receipts of one commit, in their order; the last of them ends the ledger. */
export function markPages(
  session: Session,
  tenantId: string,
  receipts: readonly Receipt[],
): Promise<never[]> {
  const rows: RowOf<typeof MARKED>[] = []
  const marksOf = ({ receiptType, from, to }: Receipt) => [
    markTo(to.id),
    markFrom(from.id),
    markType(receiptType),
  ]
  for (const { key: mark, first, last } of endsOf(receipts, marksOf)) {
    rows.push({ mark, back: first })
    if (last !== first) rows.push({ mark, back: last })
  }
  return session.each(MARK_PAGES, tenantId, rows)
}

const TASK_ENDS = { task_id: 'uuid', first: 'int', last: 'int' } as const

const MARK_TASKS = bulk('mark_tasks', TASK_ENDS, (x) => {
  const first = pageOf(`(${positionOf('x.first')})`)
  const last = pageOf(`(${positionOf('x.last')})`)
  return `
    insert into task_pages (tenant_id, task_id, page)
    select $1, x.task_id, ${first} from ${x}
    union all
    select $1, x.task_id, ${last} from ${x} where ${last} <> ${first}
    on conflict do nothing`
})

/** As above. */
export function markTasks(
  session: Session,
  tenantId: string,
  receipts: readonly Receipt[],
): Promise<never[]> {
  const ends = endsOf(receipts, ({ taskId }) => (taskId === null ? [] : [taskId]))
  const rows = ends.map(({ key, first, last }) => ({ task_id: key, first, last }))
  return session.each(MARK_TASKS, tenantId, rows)
}

interface Ends {
  readonly key: string
  /** Counted from the end of the ledger, as `back` is. */
  readonly first: number
  last: number
}

/** Where each key comes first and last in each stretch of the receipts. */
function endsOf(receipts: readonly Receipt[], keysOf: (receipt: Receipt) => readonly string[]): Ends[] {
  const ends: Ends[] = []
  for (let start = 0; start < receipts.length; start += STRETCH) {
    const known = new Map<string, Ends>()
    for (let index = start; index < Math.min(start + STRETCH, receipts.length); index += 1) {
      const back = receipts.length - index
      for (const key of keysOf(receipts[index]!)) {
        const end = known.get(key)
        if (end === undefined) known.set(key, { key, first: back, last: back })
        else end.last = back
      }
    }
    ends.push(...known.values())
  }
  return ends
}
