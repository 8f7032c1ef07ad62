// Which pages of the ledger hold receipts of a task, or to, from or of what: lists by these filters read just those pages,
// however long the ledger has grown. One row for each page and mark stands in for an index entry for each receipt and mark:
// that took 17 of the 43 µs that a receipt cost PostgreSQL, and a third of its log.
import type { Lease, Receipt } from '../../../engine/model.ts'
import { earliestStart, FIRST_OF_TIME, TIME_LENGTH } from '../segment.ts'
import { bulk, type RowOf, type Session, type Words } from '../session.ts'
import { mayHold, positionOf } from './ledger.ts'

/** Positions on one page. A list whose matches lie far apart reads this many receipts for each of them. */
export const PAGE_POSITIONS = 128
/** Half a page of receipts lies on two pages at most: those of the first and of the last. */
const STRETCH = PAGE_POSITIONS / 2

/** SQLite divides what was bound as a number like a fraction. */
export const pageOf = (position: string) => `cast(${position} as bigint) / ${PAGE_POSITIONS}`

const pageAt = (back: string) => pageOf(`(${positionOf(back)})`)

export const markTo = (id: string) => `to ${id}`
export const markFrom = (id: string) => `from ${id}`
export const markType = (receiptType: string) => `type ${receiptType}`

const MARKED = { back: 'int', mark: 'text' } as const

const MARK_PAGES = bulk(
  'mark_pages',
  MARKED,
  (x) => `
    insert into ledger_pages (tenant_id, mark, page)
    select distinct $1, x.mark, ${pageAt('x.back')}
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
  for (let start = 0; start < receipts.length; start += STRETCH) {
    rows.push(...marksOf(receipts.slice(start, start + STRETCH), receipts.length - start))
  }
  return session.each(MARK_PAGES, tenantId, rows)
}

/** Where each mark comes first and last in a stretch; `back` is where the stretch begins. */
function marksOf(stretch: readonly Receipt[], back: number): RowOf<typeof MARKED>[] {
  const ends = new Map<string, { first: number; last: number }>()
  stretch.forEach(({ receiptType, from, to }, index) => {
    for (const mark of [markTo(to.id), markFrom(from.id), markType(receiptType)]) {
      const end = ends.get(mark)
      if (end === undefined) ends.set(mark, { first: back - index, last: back - index })
      else end.last = back - index
    }
  })
  return [...ends].flatMap(([mark, { first, last }]) =>
    first === last ? [{ mark, back: first }] : [first, last].map((at) => ({ mark, back: at })),
  )
}

type OfTask = Pick<Receipt, 'taskId' | 'receiptType' | 'receiptId'>

const OF_TASKS = { task_id: 'uuid', back: 'int', before: 'int', is_first: 'boolean' } as const

const MARK_TASKS = bulk(
  'mark_tasks',
  OF_TASKS,
  (x) => `
    insert into task_pages (tenant_id, task_id, page)
    select $1, x.task_id, ${pageAt('x.back')}
    from ${x}
    where ${pageAt('x.back')} > ${pageAt('x.before')} or x.is_first and not exists (
      select 1 from task_pages p where p.tenant_id = $1 and p.task_id = x.task_id and p.page = ${pageAt('x.back')}
    )`,
)

/**
 * As above, but for the receipts that the rows of their tasks name, and task.result_ready, which follows one of those (see
 * `pagesOfTask`). `before` is the task's receipt before in this commit, or where the commit begins: on later pages than that
 * there is no row yet. Nobody else adds any until the commit; `on conflict` cost PostgreSQL half as much again.
 */
export function markTasks(
  session: Session,
  tenantId: string,
  { receipts, named }: { readonly receipts: readonly OfTask[]; readonly named: ReadonlySet<string> },
): Promise<never[]> {
  const known = new Map<string, number>()
  const rows: RowOf<typeof OF_TASKS>[] = []
  receipts.forEach(({ taskId, receiptType, receiptId }, index) => {
    if (taskId === null || receiptType === 'task.assigned' || receiptType === 'task.result_ready') return
    if (named.has(receiptId)) return
    const back = receipts.length - index
    const before = known.get(taskId)
    rows.push({ task_id: taskId, back, before: before ?? receipts.length, is_first: before === undefined })
    known.set(taskId, back)
  })
  return session.each(MARK_TASKS, tenantId, rows)
}

const NO_LONGER_NAMED = { task_id: 'uuid', receipt_id: 'uuid', earliest: 'uuid' } as const

const MARK_NO_LONGER_NAMED = bulk('mark_no_longer_named', NO_LONGER_NAMED, (x, words) => {
  const around = `f.tenant_id = $1 and ${mayHold('f', { id: 'x.receipt_id', earliest: 'x.earliest' })}`
  const pages = ['f.first_position', 'f.last_position'].map(
    (position) => `
    select x.task_id as task_id, ${pageOf(position)} as page
    from ${x}
    ${words.find('ledger_segments', 'f', around)}`,
  )
  return `
    insert into task_pages (tenant_id, task_id, page)
    select $1, marked.task_id, marked.page
    from (${pages.join('\n    union all')}) as marked
    where true
    on conflict do nothing`
})

/** The receipts of claims of earlier commits, which their tasks' rows named until now. */
export function markNoLongerNamed(
  session: Session,
  tenantId: string,
  leases: readonly Pick<Lease, 'taskId' | 'leaseId'>[],
): Promise<never[]> {
  return session.each(
    MARK_NO_LONGER_NAMED,
    tenantId,
    leases.map(({ taskId, leaseId }) => ({
      task_id: taskId,
      receipt_id: leaseId,
      earliest: earliestStart(leaseId),
    })),
  )
}

/**
 * The pages of the task $4: of those that were marked the next $3 from $2, and those of the segments with the receipts that its
 * rows name: of its creation, of its last claim, since a lease bears the id of its receipt, and of its end. What follows the
 * last of them, task.result_ready, may be the first of the next page.
 */
export function pagesOfTask(words: Words): string {
  const named = (table: string, id: string) => {
    const earliest = words.id(`substr(cast(${id} as text), 1, ${TIME_LENGTH}) || '${FIRST_OF_TIME}'`)
    const pages = [pageOf('f.first_position'), pageOf('(f.last_position + 1)')]
    return pages.map(
      (page) => `
      select ${page} as page
      from ${table} n
      ${words.find('ledger_segments', 'f', `f.tenant_id = $1 and ${mayHold('f', { id, earliest })}`)}
      where n.tenant_id = $1 and n.task_id = $4`,
    )
  }
  return [
    `select page from (
        select page from task_pages
        where tenant_id = $1 and task_id = $4 and page >= ${pageOf('$2')}
        order by page
        limit $3
      ) as marked`,
    ...named('tasks', 'n.assigned_receipt_id'),
    ...named('leased', 'n.lease_id'),
    ...named('ended', 'n.lease_id'),
    ...named('ended', 'n.terminal_receipt_id'),
  ].join('\n      union\n      ')
}
