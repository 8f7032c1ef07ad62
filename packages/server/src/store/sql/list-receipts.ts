// Lists of receipts, in ledger order. Each filter has an index that starts with it and ends with the
// position.
import type { ReceiptQuery } from '../port.ts'
import { allOf, buildFilter } from './filter.ts'
import { receiptColumns, type ReceiptRow } from './receipt-row.ts'
import { listQuery, type Query, type Session, type Value } from './session.ts'

const queries = new Map<string, Query>()

export function listReceipts(session: Session, wanted: ReceiptQuery): Promise<ReceiptRow[]> {
  const { shape, conditions, params } = buildFilter([wanted.tenantId], {
    task: ['r.task_id = ?', wanted.taskId],
    to: ['r.to_id = ?', wanted.to.id],
    tokind: ['r.to_kind = ?', wanted.to.kind],
    from: ['r.from_id = ?', wanted.from.id],
    fromkind: ['r.from_kind = ?', wanted.from.kind],
    type: ['r.receipt_type = ?', wanted.receiptType],
    after: ['r.position > ?', wanted.after],
  })
  const concerned = wanted.concerning === null ? [] : [wanted.concerning.kind, wanted.concerning.id]
  const values: Value[] = [...params, ...concerned, wanted.limit]
  const name = `list_receipts_${shape}${wanted.concerning === null ? '' : '_concerning'}`
  let found = queries.get(name)
  if (found === undefined) {
    found = compose(name, { concerned: wanted.concerning !== null, conditions, count: values.length })
    queries.set(name, found)
  }
  return session.all(found, values)
}

function compose(
  name: string,
  of: { concerned: boolean; conditions: readonly string[]; count: number },
): Query {
  const limit = `$${of.count}`
  const page = (columns: string, extra: string) => `
      select ${columns}
      from receipts r
      where r.tenant_id = $1 ${allOf(of.conditions)} ${extra}
      order by r.position
      limit ${limit}`
  if (!of.concerned) return listQuery(name, (words) => page(receiptColumns(words), ''))
  const [kind, id] = [`$${of.count - 2}`, `$${of.count - 1}`]
  // Each side by its own index; a receipt that a principal sent to itself is on both.
  return listQuery(
    name,
    (words) => `
      select ${receiptColumns(words)}
      from (
        select position from (${page('r.position', `and r.to_id = ${id} and r.to_kind = ${kind}`)}) as received
        union
        select position from (${page('r.position', `and r.from_id = ${id} and r.from_kind = ${kind}`)}) as sent
        order by position
        limit ${limit}
      ) as page
      ${words.find('receipts', 'r', 'r.tenant_id = $1 and r.position = page.position')}
      order by page.position`,
  )
}
