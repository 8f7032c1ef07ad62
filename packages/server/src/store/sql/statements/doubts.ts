// The check of the obligations' index against its evidence: every receipt that opens an obligation has its row, until one
// of a discharging type names it as its parent; then it has none, and the first such receipt is told as what discharged it;
// and there are no other rows. It reads the whole ledger, for `doctor` and for tests; nothing that callers wait for uses it.
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
const DOUBTFUL_OBLIGATIONS = listQuery(
  'doubtful_obligations',
  (words) => `
    with evidence as materialized (
      select tenant_id, position, receipt_id, receipt_type, task_id, parents from receipts
      where receipt_type in (${OPENING}, ${CLOSING})
    ),
    closings as materialized (
      select r.tenant_id, r.position, r.receipt_id, r.receipt_type, ${words.id('e.value')} as opened_by
      from evidence r
      cross join ${words.elements('r.parents')}
      where r.receipt_type in (${CLOSING})
    ),
    ends as materialized (
      select r.tenant_id, r.receipt_id, c.receipt_id as discharged_by,
        row_number() over (partition by r.tenant_id, r.receipt_id order by c.position) as number
      from evidence r
      join closings c on c.tenant_id = r.tenant_id and c.opened_by = r.receipt_id
      where (r.receipt_type, c.receipt_type) in (values ${PAIRS})
    )
    select receipt_id from (
      select r.receipt_id
      from evidence r
      left join ends n on n.tenant_id = r.tenant_id and n.receipt_id = r.receipt_id and n.number = 1
      left join obligations o on o.tenant_id = r.tenant_id and o.receipt_id = r.receipt_id
      left join discharges d on d.tenant_id = r.tenant_id and d.receipt_id = r.receipt_id
      left join ended t on t.tenant_id = r.tenant_id and t.task_id = r.task_id
      where r.receipt_type in (${OPENING}) and case when n.receipt_id is null
        then o.receipt_id is null or o.position <> r.position or d.receipt_id is not null
        else o.receipt_id is not null
          or n.discharged_by is distinct from coalesce(d.discharged_by, t.terminal_receipt_id)
        end
      union
      select o.receipt_id
      from (
        select tenant_id, receipt_id from obligations
        union all
        select tenant_id, receipt_id from discharges
      ) as o
      left join evidence r on r.tenant_id = o.tenant_id and r.receipt_id = o.receipt_id
        and r.receipt_type in (${OPENING})
      where r.receipt_id is null
    ) as doubtful
    limit $1`,
)

/** Of all tenants: the check is the system's. */
export function doubtfulObligations(session: Session, limit: number): Promise<{ receipt_id: string }[]> {
  return session.all(DOUBTFUL_OBLIGATIONS, [limit])
}
