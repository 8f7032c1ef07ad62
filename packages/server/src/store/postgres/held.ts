// What was decided by as it was remembered is checked where it is written: a row that is not as expected, or that another
// transaction has locked, fails the transaction, and its unit is decided again by what is there. Nothing waits here: whoever
// holds such a row may be waiting for what this transaction holds already.
import type { Holding } from '../sql/holdings.ts'
import { bulk, type Expected, type RowOf, type Session } from '../sql/session.ts'

/** Whatever may change while the lease stays the same, but for what changes together with one of these. */
const HELD = {
  task_id: 'uuid',
  lease_id: 'uuid',
  status: 'text',
  updated_at: 'bigint',
  has_dependents: 'boolean',
  renewals: 'int',
  check_at: 'bigint',
} as const

const UNCHANGED = Object.keys(HELD)
  .map((name) => `f.${name} = x.${name}`)
  .join(' and ')

/** The addresses of the rows; without one of them it divides by zero, which failure.ts knows. */
const addresses = (input: string) => `
    select case when 1 / (f.ctid is not null)::int = 1 then f.ctid end as address
    from ${input}
    left join lateral (
      select f.ctid from leased f where f.tenant_id = $1 and ${UNCHANGED} offset 0 for update skip locked
    ) as f on true`

export const TAKE_HELD = bulk(
  'take_held',
  HELD,
  (x) => `delete from leased where coalesce(tenant_id = $1, false) and ctid = any (array(${addresses(x)}))`,
)

export const CHECK_HELD = bulk(
  'check_held',
  HELD,
  (x) => `select count(held.address) from (${addresses(x)}) as held`,
)

export function expectHeld(
  session: Session,
  tenantId: string,
  { leaving, staying }: Expected,
): Promise<unknown> {
  return Promise.all([
    session.each(TAKE_HELD, tenantId, leaving.map(toRow)),
    session.each(CHECK_HELD, tenantId, staying.map(toRow)),
  ])
}

function toRow({ task: { definition, state }, lease }: Holding): RowOf<typeof HELD> {
  return {
    task_id: definition.taskId,
    lease_id: lease.leaseId,
    status: state.status,
    updated_at: state.updatedAt,
    has_dependents: state.hasDependents,
    renewals: lease.renewals,
    check_at: lease.checkAt,
  }
}
