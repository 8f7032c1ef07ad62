// Lists of receipts, in ledger order. Those of a task have an index; for the other filters the ledger's pages are marked
// with what they hold, and only such pages are read.
import type { ReceiptQuery } from '../port.ts'
import { allOf, buildFilter } from './filter.ts'
import { receiptColumns, type ReceiptRow } from './receipt-row.ts'
import { listQuery, type Query, type Session, type Value, type Words } from './session.ts'
import { markFrom, markTo, markType, PAGE_POSITIONS, pageOf } from './statements/ledger-pages.ts'

const queries = new Map<string, Query>()

export function listReceipts(session: Session, wanted: ReceiptQuery): Promise<ReceiptRow[]> {
  const { concerning } = wanted
  const { shape, conditions, params } = buildFilter([wanted.tenantId, wanted.after ?? 0], {
    task: ['r.task_id = ?', wanted.taskId],
    to: ['r.to_id = ?', wanted.to.id],
    tokind: ['r.to_kind = ?', wanted.to.kind],
    from: ['r.from_id = ?', wanted.from.id],
    fromkind: ['r.from_kind = ?', wanted.from.kind],
    type: ['r.receipt_type = ?', wanted.receiptType],
  })
  const marks = marksOf(wanted)
  const values: Value[] = [
    ...params,
    ...(concerning === null ? [] : [concerning.kind, concerning.id]),
    ...marks,
    wanted.limit,
  ]
  const name = `list_receipts_${shape}${concerning === null ? '' : '_concerning'}`
  let found = queries.get(name)
  if (found === undefined) {
    const parts = { conditions, marked: marks.length > 0, count: values.length }
    found = concerning === null ? plain(name, parts) : concerned(name, parts)
    queries.set(name, found)
  }
  return session.all(found, values)
}

/**
 * What the pages are found by, if anything narrows them down: of several filters, the one that is likely the rarest. The
 * two sides of what concerns a principal have a mark each.
 */
function marksOf({ taskId, concerning, to, from, receiptType }: ReceiptQuery): string[] {
  if (taskId !== null) return []
  if (concerning !== null) return [markTo(concerning.id), markFrom(concerning.id)]
  if (to.id !== null) return [markTo(to.id)]
  if (from.id !== null) return [markFrom(from.id)]
  return receiptType === null ? [] : [markType(receiptType)]
}

interface Parts {
  readonly conditions: readonly string[]
  readonly marked: boolean
  /** Of parameters: the limit is the last, the marks come before it. */
  readonly count: number
}

function plain(name: string, { conditions, marked, count }: Parts): Query {
  const mark = marked ? `$${count - 1}` : null
  return listQuery(name, (words) => page(words, { columns: receiptColumns(words), conditions, mark, count }))
}

/** Those of a task are few, and looked at one by one. */
function concerned(name: string, { conditions, marked, count }: Parts): Query {
  const at = count - (marked ? 4 : 2)
  const received = `r.to_id = $${at + 1} and r.to_kind = $${at}`
  const sent = `r.from_id = $${at + 1} and r.from_kind = $${at}`
  if (!marked) {
    const either = `(${received} or ${sent})`
    return plain(name, { conditions: [...conditions, either], marked, count })
  }
  return twoSided(name, {
    sides: [
      [...conditions, received],
      [...conditions, sent],
    ],
    count,
  })
}

/** Each side by its own mark; a receipt that a principal sent to itself is on both. */
function twoSided(
  name: string,
  { sides: [received, sent], count }: { sides: [received: string[], sent: string[]]; count: number },
): Query {
  return listQuery(name, (words) => {
    const side = (conditions: readonly string[], mark: string) =>
      page(words, { columns: 'r.position', conditions, mark, count })
    return `
      select ${receiptColumns(words)}
      from (
        select position from (${side(received, `$${count - 2}`)}) as received
        union
        select position from (${side(sent, `$${count - 1}`)}) as sent
        order by position
        limit $${count}
      ) as page
      ${words.find('receipts', 'r', 'r.tenant_id = $1 and r.position = page.position')}
      order by page.position`
  })
}

interface Page {
  readonly columns: string
  readonly conditions: readonly string[]
  readonly mark: string | null
  readonly count: number
}

function page(words: Words, { columns, conditions, mark, count }: Page): string {
  if (mark === null) {
    return `
      select ${columns}
      from receipts r
      where r.tenant_id = $1 and r.position > $2 ${allOf(conditions)}
      order by r.position
      limit $${count}`
  }
  const onPage = `r.tenant_id = $1 and r.position >= m.page * ${PAGE_POSITIONS}
        and r.position < m.page * ${PAGE_POSITIONS} + ${PAGE_POSITIONS}`
  return `
      select ${columns}
      from (
        select page from ledger_pages
        where tenant_id = $1 and mark = ${mark} and page >= ${pageOf('$2')}
        order by page
      ) as m
      ${words.find('receipts', 'r', onPage)}
      where r.position > $2 ${allOf(conditions)}
      order by m.page, r.position
      limit $${count}`
}
