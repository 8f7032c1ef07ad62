// Lists of receipts, in ledger order. The ledger's pages are marked with what they hold, and only such pages are read; of
// their segments, those that cannot hold what is wanted stay in the database. What remains is looked at one by one.
//
// A list that needs more than one look still misses nothing: a look sees the ledger up to some position and nothing beyond,
// since positions follow the order of commits, and the next one goes on from what it saw.
import type { Positioned, ReceiptQuery } from '../port.ts'
import { matchesReceipt } from '../receipt-filter.ts'
import { receiptsIn, type SegmentRow } from './segment.ts'
import { listQuery, type Query, type Session, type Words } from './session.ts'
import { startOf } from './statements/ledger.ts'
import { markFrom, markTo, markType, PAGE_POSITIONS, pageOf, pagesOfTask } from './statements/ledger-pages.ts'

/** A task is found on the few pages where it was created, claimed and ended. */
const TASK_PAGES = 16
/** Where a look has not found enough, the next one is larger. */
const GROWTH = 4
const PAGES_MAX = 64

export async function listReceipts(session: Session, wanted: ReceiptQuery): Promise<Positioned[]> {
  const found: Positioned[] = []
  const { limit, tenantId } = wanted
  let after = wanted.after ?? 0
  for (let pages = pagesAtFirst(wanted); ; pages = Math.min(pages * GROWTH, PAGES_MAX)) {
    const { segments, through, isLast } = await look(session, wanted, { after, pages })
    for (const one of receiptsIn(tenantId, segments)) {
      if (one.position > after && one.position <= through && matchesReceipt(one.receipt, wanted))
        found.push(one)
      if (found.length === limit) return found
    }
    if (isLast) return found
    after = through
  }
}

function pagesAtFirst({ taskId, limit }: ReceiptQuery): number {
  return taskId === null ? 1 + Math.ceil(limit / PAGE_POSITIONS) : TASK_PAGES
}

interface Look {
  /** Those that may hold what is wanted. */
  readonly segments: readonly SegmentRow[]
  /** All up to this position was looked at. */
  readonly through: number
  /** There was nothing beyond. */
  readonly isLast: boolean
}

interface FoundRow {
  readonly page: number
  readonly first_position: number
  readonly last_position: number
  /** Null where it cannot hold what is wanted. */
  readonly receipts: string | null
}

async function look(
  session: Session,
  wanted: ReceiptQuery,
  { after, pages }: { after: number; pages: number },
): Promise<Look> {
  const marks = marksOf(wanted)
  const parts = partsOf(wanted)
  // Without any filter it is known how far to look.
  const reach = after + (parts.length === 0 ? wanted.limit : pages * PAGE_POSITIONS)
  const found = await session.all<FoundRow>(lookQuery(marks, parts.length), [
    wanted.tenantId,
    after + 1,
    marks.of === 'nothing' ? reach : pages,
    ...marks.values,
    ...parts,
  ])
  const seen = new Set<number>()
  let [lastPage, lastPosition] = [0, after]
  for (const { page, last_position } of found) {
    seen.add(page)
    lastPage = Math.max(lastPage, page)
    lastPosition = Math.max(lastPosition, last_position)
  }
  const end = marks.of === 'nothing' ? reach : (lastPage + 1) * PAGE_POSITIONS - 1
  return {
    segments: found.filter((row): row is FoundRow & SegmentRow => row.receipts !== null),
    // The page at the end of the ledger may have been filled up since: the next look begins with what this one saw of it.
    through: Math.min(end, lastPosition),
    isLast: marks.of === 'nothing' ? lastPosition < end : seen.size < pages,
  }
}

type Marks =
  | { readonly of: 'task' | 'mark' | 'marks'; readonly values: readonly string[] }
  | { readonly of: 'nothing'; readonly values: readonly [] }

/**
 * What the pages are found by, if anything narrows them down: of several filters, the one that is likely the rarest. The
 * two sides of what concerns a principal have a mark each.
 */
function marksOf({ taskId, concerning, to, from, receiptType }: ReceiptQuery): Marks {
  if (taskId !== null) return { of: 'task', values: [taskId] }
  if (concerning !== null) return { of: 'marks', values: [markTo(concerning.id), markFrom(concerning.id)] }
  if (to.id !== null) return { of: 'mark', values: [markTo(to.id)] }
  if (from.id !== null) return { of: 'mark', values: [markFrom(from.id)] }
  return receiptType === null
    ? { of: 'nothing', values: [] }
    : { of: 'mark', values: [markType(receiptType)] }
}

/** What a segment contains if it holds a receipt that is wanted: the words of the filters, as JSON. */
function partsOf({ taskId, concerning, to, from, receiptType }: ReceiptQuery): string[] {
  const words = [taskId, concerning?.id ?? null, to.id ?? to.kind, from.id ?? from.kind, receiptType]
  return words.filter((word) => word !== null).map((word) => JSON.stringify(word))
}

const queries = new Map<string, Query>()

function lookQuery({ of, values }: Marks, parts: number): Query {
  const name = `list_receipts_${of}_${parts}`
  let found = queries.get(name)
  if (found === undefined) {
    const needed = Array.from({ length: parts }, (_, index) => `$${4 + values.length + index}`)
    found = listQuery(name, (words) =>
      of === 'nothing' ? onward(words, needed) : onPages(words, of, needed),
    )
    queries.set(name, found)
  }
  return found
}

function columns({ contains }: Words, needed: readonly string[]): string {
  const holds = needed.map((part) => contains('s.receipts', part))
  const receipts = holds.length === 0 ? 's.receipts' : `case when ${holds.join(' and ')} then s.receipts end`
  return `s.first_position, s.last_position, ${receipts} as receipts`
}

/**
 * From $2 to $3. Where there is no segment to begin with, the ledger is empty. `coalesce` would keep PostgreSQL from looking that
 * up in the index, since a policy stands before it: the thousandth page was read from the first one on.
 */
function onward(words: Words, needed: readonly string[]): string {
  return `
    select 0 as page, ${columns(words, needed)}
    from ledger_segments s
    where s.tenant_id = $1 and s.first_position >= ${startOf('$2')} and s.first_position <= $3
      and s.last_position >= $2
    order by s.first_position`
}

/** The next $3 pages: each is seen, since some segment of it reaches to $2 or beyond, unless the ledger ends before. */
function onPages(words: Words, of: Exclude<Marks['of'], 'nothing'>, needed: readonly string[]): string {
  const onPage = `s.tenant_id = $1 and s.first_position >= marked.start
      and s.first_position < (marked.page + 1) * ${PAGE_POSITIONS} and s.last_position >= $2`
  return `
    select marked.page, ${columns(words, needed)}
    from (${PAGES[of](words)}) as marked
    ${words.find('ledger_segments', 's', onPage, 's.first_position')}`
}

/** With where the first segment of each begins: asked for beside the segments, it would not narrow them down. */
const next = (from: string) => `
      select page, coalesce(${startOf(`page * ${PAGE_POSITIONS}`)}, 0) as start
      from ${from} and page >= ${pageOf('$2')}
      order by page
      limit $3`

const marked = (mark: string) => next(`ledger_pages where tenant_id = $1 and mark = ${mark}`)

const PAGES = {
  task: (words: Words) => next(`(${pagesOfTask(words)}) as pages where true`),
  mark: () => marked('$4'),
  marks: () => `
      select page, start from (${marked('$4')}) as received
      union
      select page, start from (${marked('$5')}) as sent
      order by page
      limit $3`,
}
