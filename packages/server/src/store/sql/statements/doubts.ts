// The check of the obligations' index against its evidence: every receipt that opens an obligation has its
// row; what names an obligation as its parent, and is of a discharging type, discharged it or came after what
// did; and nothing else did. It reads the whole ledger, for `doctor` and for tests; nothing that callers wait
// for uses it.
import { DISCHARGED_BY } from '../../../engine/ledger.ts'
import { listQuery, type Session } from '../session.ts'

// Constants of the program, not input: safe to write into the text.
const PAIRS = Object.entries(DISCHARGED_BY)
  .flatMap(([opened, closers]) => closers.map((closer) => `('${opened}', '${closer}')`))
  .join(', ')
const OPENING = Object.keys(DISCHARGED_BY)
  .map((type) => `'${type}'`)
  .join(', ')

const CLOSING = [...new Set(Object.values(DISCHARGED_BY).flat())].map((type) => `'${type}'`).join(', ')

// The evidence is taken out of its segments once. It has no index, so joins are left to the planner.
const DOUBTFUL_OBLIGATIONS = listQuery('doubtful_obligations', (words) => {
  const obligation = (on: string) => `o.tenant_id = r.tenant_id and o.receipt_id = ${on}`
  const end = 'left join evidence d on d.tenant_id = o.tenant_id and d.receipt_id = o.discharged_by'
  return `
    with evidence as materialized (
      select tenant_id, position, receipt_id, receipt_type, parents from receipts
      where receipt_type in (${OPENING}, ${CLOSING})
    )
    select receipt_id from (
      select r.receipt_id
      from evidence r
      ${words.findOptional('obligations', 'o', obligation('r.receipt_id'))}
      where r.receipt_type in (${OPENING}) and (o.receipt_id is null or o.position <> r.position)
      union
      select o.receipt_id
      from evidence r
      cross join ${words.elements('r.parents')}
      ${words.find('obligations', 'o', obligation(words.id('e.value')))}
      ${end}
      where (o.receipt_type, r.receipt_type) in (values ${PAIRS}) and (d.position is null or d.position > r.position)
      union
      select o.receipt_id
      from obligations o
      ${end}
      where o.discharged_by is not null and (
        d.receipt_id is null
        or (o.receipt_type, d.receipt_type) not in (values ${PAIRS})
        or not exists (
          select 1 from ${words.elements('d.parents')} where ${words.id('e.value')} = o.receipt_id
        )
      )
    ) as doubtful
    limit $1`
})

/** Of all tenants: the check is the system's. */
export function doubtfulObligations(session: Session, limit: number): Promise<{ receipt_id: string }[]> {
  return session.all(DOUBTFUL_OBLIGATIONS, [limit])
}
