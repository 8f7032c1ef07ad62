// What was decided by as it was remembered is checked where it is written: a row that is not as expected, or that another
// transaction has locked, fails the transaction, and its unit is decided again by what is there. Nothing waits here: whoever
// holds such a row may be waiting for what this transaction holds already.
import { HELD_COLUMNS, heldToRow, isAsHeld } from '../sql/held-row.ts'
import { bulk, type Expected, type Session } from '../sql/session.ts'

/** The addresses of the rows; without one of them it divides by zero, which failure.ts knows. */
const addresses = (input: string) => `
    select case when 1 / (f.ctid is not null)::int = 1 then f.ctid end as address
    from ${input}
    left join lateral (
      select f.ctid from leased f where ${isAsHeld('f')} offset 0 for update skip locked
    ) as f on true`

const TAKE_HELD = bulk(
  'take_held',
  HELD_COLUMNS,
  (x) => `delete from leased where coalesce(tenant_id = $1, false) and ctid = any (array(${addresses(x)}))`,
)

const CHECK_HELD = bulk(
  'check_held',
  HELD_COLUMNS,
  (x) => `select count(held.address) from (${addresses(x)}) as held`,
)

export function expectHeld(
  session: Session,
  tenantId: string,
  { leaving, staying }: Expected,
): Promise<unknown> {
  return Promise.all([
    session.each(TAKE_HELD, tenantId, leaving.map(heldToRow)),
    session.each(CHECK_HELD, tenantId, staying.map(heldToRow)),
  ])
}
