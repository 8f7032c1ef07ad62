// What was decided by as it was remembered is checked and locked before anything is written: a row that is not as expected, or that
// another transaction has locked, fails the transaction, and its unit is decided again by what is there. Nothing waits here: whoever
// holds such a row may be waiting for what this transaction holds already.
//
// In a statement of its own: what it locks may be a later version of a row than the statement itself sees, which a deletion in
// it would miss.
import { HELD_COLUMNS, heldToRow, IS_AS_HELD } from '../sql/held-row.ts'
import type { Holding } from '../sql/holdings.ts'
import { bulk, type Session } from '../sql/session.ts'
import { NOT_AS_REMEMBERED } from './failure.ts'

/** Where there is no such row, these words are read as a number: an error that whoever sees it in the log understands. */
const CHECK_HELD = bulk(
  'check_held',
  HELD_COLUMNS,
  (x) => `
    select sum(coalesce(f.found, ('${NOT_AS_REMEMBERED}; task ' || x.task_id)::int))
    from ${x}
    left join lateral (
      select 1 as found from leased f where ${IS_AS_HELD} offset 0 for update skip locked
    ) as f on true`,
)

export function expectHeld(
  session: Session,
  tenantId: string,
  holdings: readonly Holding[],
): Promise<unknown> {
  return session.each(CHECK_HELD, tenantId, holdings.map(heldToRow))
}
