// Which pages of the ledger hold receipts of a task, or to, from or of what: lists by these filters read just those pages,
// however long the ledger has grown. One row for each page and mark stands in for an index entry for each receipt and mark:
// that took 17 of the 43 µs that a receipt cost PostgreSQL, and a third of its log.
import type { Lease, Receipt } from '../../../engine/model.ts'
import { earliestStart, FIRST_OF_TIME, TIME_LENGTH } from '../segment.ts'
import { bulk, type RowOf, type Session, type Words } from '../session.ts'
import { LAST_SEGMENT, mayHold } from './ledger.ts'

/** Positions on one page. A list whose matches lie far apart reads this many receipts for each of them. */
export const PAGE_POSITIONS = 128
/** As many receipts as a page has lie on two of them at most: those of the first and of the last. */
const STRETCH = PAGE_POSITIONS

/** SQLite divides what was bound as a number like a fraction. */
export const pageOf = (position: string) => `cast(${position} as bigint) / ${PAGE_POSITIONS}`

export const markTo = (id: string) => `to ${id}`
export const markFrom = (id: string) => `from ${id}`
export const markType = (receiptType: string) => `type ${receiptType}`

/**
 * Of the receipts of one commit: `back` counts from the end of the ledger, 1 is the last; `before` is where the same was marked
 * before in this commit, or else where the commit begins.
 */
const PLACE = { back: 'int', before: 'int', is_first: 'boolean' } as const

type Place = RowOf<typeof PLACE>

/**
 * On later pages than that of `before` there is no row yet; on the page where the commit begins there may be one. Nobody else
 * adds any until the commit; `on conflict` cost PostgreSQL half as much again.
 */
const markNew = (x: string, words: Words, { table, key }: { table: string; key: string }) => {
  const page = (back: string) => pageOf(`(h.last_position + 1 - ${back})`)
  const same = `x.is_first and p.tenant_id = $1 and p.${key} = x.${key} and p.page = ${page('x.back')}`
  return `
    insert into ${table} (tenant_id, ${key}, page)
    select $1, x.${key}, ${page('x.back')}
    from ${x}
    cross join (select e.last_position ${LAST_SEGMENT}) as h
    ${words.findOptional(table, 'p', same)}
    where ${page('x.back')} > ${page('x.before')} or x.is_first and p.page is null`
}

/** Tells for each name that is marked what `markNew` asks of its place. */
function placesIn({ length }: readonly unknown[]): (name: string, back: number) => Place {
  const known = new Map<string, number>()
  return (name, back) => {
    const before = known.get(name)
    known.set(name, back)
    return { back, before: before ?? length, is_first: before === undefined }
  }
}

const MARK_PAGES = bulk('mark_pages', { mark: 'text', ...PLACE }, (x, words) =>
  markNew(x, words, { table: 'ledger_pages', key: 'mark' }),
)

type Marked = Pick<Receipt, 'receiptType' | 'from' | 'to'>

/** The receipts of one commit, in their order; the last of them ends the ledger. */
export function markPages(session: Session, tenantId: string, receipts: readonly Marked[]): Promise<never[]> {
  const placeOf = placesIn(receipts)
  const rows: (Place & { mark: string })[] = []
  for (let start = 0; start < receipts.length; start += STRETCH) {
    const marks = marksOf(receipts.slice(start, start + STRETCH), receipts.length - start)
    for (const [mark, { first, last }] of marks) {
      rows.push({ mark, ...placeOf(mark, first) })
      if (last !== first) rows.push({ mark, ...placeOf(mark, last) })
    }
  }
  return session.each(MARK_PAGES, tenantId, rows)
}

interface Ends {
  readonly first: number
  last: number
}

/** Where each mark comes first and last in a stretch; `back` is where the stretch begins. */
function marksOf(stretch: readonly Marked[], back: number): [string, Ends][] {
  const [to, from, types] = [new Map<string, Ends>(), new Map<string, Ends>(), new Map<string, Ends>()]
  stretch.forEach((receipt, index) => {
    noteEnd(to, receipt.to.id, back - index)
    noteEnd(from, receipt.from.id, back - index)
    noteEnd(types, receipt.receiptType, back - index)
  })
  const named = (ends: Map<string, Ends>, markOf: (name: string) => string) =>
    Array.from(ends, ([name, end]): [string, Ends] => [markOf(name), end])
  return [...named(to, markTo), ...named(from, markFrom), ...named(types, markType)]
}

/** By the bare name: to make the mark itself of each receipt takes longer than the rest. */
function noteEnd(ends: Map<string, Ends>, name: string, back: number): void {
  const end = ends.get(name)
  if (end === undefined) ends.set(name, { first: back, last: back })
  else end.last = back
}

type OfTask = Pick<Receipt, 'taskId' | 'receiptType' | 'receiptId'>

const MARK_TASKS = bulk('mark_tasks', { task_id: 'uuid', ...PLACE }, (x, words) =>
  markNew(x, words, { table: 'task_pages', key: 'task_id' }),
)

/**
 * As above, but for the receipts that the rows of their tasks name, and task.result_ready, which follows one of those (see
 * `pagesOfTask`).
 */
export function markTasks(
  session: Session,
  tenantId: string,
  { receipts, named }: { readonly receipts: readonly OfTask[]; readonly named: ReadonlySet<string> },
): Promise<never[]> {
  const placeOf = placesIn(receipts)
  const rows: (Place & { task_id: string })[] = []
  receipts.forEach(({ taskId, receiptType, receiptId }, index) => {
    if (taskId === null || receiptType === 'task.assigned' || receiptType === 'task.result_ready') return
    if (named.has(receiptId)) return
    rows.push({ task_id: taskId, ...placeOf(taskId, receipts.length - index) })
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
