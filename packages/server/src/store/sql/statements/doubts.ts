// The check of the obligations' index against its evidence: for every obligation, the first receipt of a discharging type
// that names it. It reads the whole ledger, for `doctor` and for tests; nothing that callers wait for uses it.
import { DISCHARGED_BY } from '../../../engine/ledger.ts'
import { query, type Session } from '../session.ts'

// Constants of the program, not input: safe to write into the text.
const PAIRS = Object.entries(DISCHARGED_BY)
  .flatMap(([opened, closers]) => closers.map((closer) => `('${opened}', '${closer}')`))
  .join(', ')
const OPENING = Object.keys(DISCHARGED_BY)
  .map((type) => `'${type}'`)
  .join(', ')

const DOUBTFUL_OBLIGATIONS = query(
  'doubtful_obligations',
  (words) => `
    with evidence as (
      select r.tenant_id, p.receipt_id, min(r.position) as position
      from receipts r
      cross join ${words.elements('r.parents')}
      join receipts p on p.tenant_id = r.tenant_id and p.receipt_id = ${words.id('e.value')}
      where (p.receipt_type, r.receipt_type) in (values ${PAIRS})
      group by r.tenant_id, p.receipt_id
    )
    select p.receipt_id
    from receipts p
    left join obligations o on o.tenant_id = p.tenant_id and o.receipt_id = p.receipt_id
    left join evidence e on e.tenant_id = p.tenant_id and e.receipt_id = p.receipt_id
    left join receipts r on r.tenant_id = e.tenant_id and r.position = e.position
    where p.receipt_type in (${OPENING})
      and (o.receipt_id is null or o.position <> p.position or o.discharged_by is distinct from r.receipt_id)
    limit $1`,
)

/** Of all tenants: the check is the system's. */
export function doubtfulObligations(session: Session, limit: number): Promise<{ receipt_id: string }[]> {
  return session.all(DOUBTFUL_OBLIGATIONS, [limit])
}
