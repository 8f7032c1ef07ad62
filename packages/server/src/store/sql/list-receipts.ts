// Lists of receipts, in ledger order. Each filter has an index that starts with it and ends with the position.
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

function compose(name: string, of: { concerned: boolean; conditions: readonly string[]; count: number }): Query {
  const limit = `$${of.count}`
  return listQuery(name, (words) => {
    const page = (extra: string) => `
      select ${receiptColumns(words)}
      from receipts r
      where r.tenant_id = $1 ${allOf(of.conditions)} ${extra}
      order by r.position
      limit ${limit}`
    if (!of.concerned) return page('')
    const [kind, id] = [`$${of.count - 2}`, `$${of.count - 1}`]
    const received = `r.to_id = ${id} and r.to_kind = ${kind}`
    const sent = `r.from_id = ${id} and r.from_kind = ${kind} and (r.to_id <> ${id} or r.to_kind <> ${kind})`
    return `
      select * from (
        select * from (${page(`and ${received}`)}) as received
        union all
        select * from (${page(`and ${sent}`)}) as sent
      ) as page
      order by position
      limit ${limit}`
  })
}
