// What was decided by as it was remembered is checked and locked before it is changed: a row that is not as expected, or that
// another transaction has locked, fails the transaction, and its unit is decided again by what is there. Nothing waits here: whoever
// holds such a row may be waiting for what this transaction holds already.
//
// What is locked may be a later version of a row than the statement itself sees, which a change in the same statement would miss.
import { HELD_COLUMNS, heldToRow, IS_AS_HELD } from '../sql/held-row.ts'
import type { Holding } from '../sql/holdings.ts'
import { bulk, type Session } from '../sql/session.ts'
import { NOT_AS_REMEMBERED } from './failure.ts'
import { liesIn } from './words.ts'

/** Locked, unless another transaction has locked it. */
const FREE = `select f.ctid from leased f where ${IS_AS_HELD} offset 0 for update skip locked`

/** What stays is changed by later statements. Where there is no such row, these words are read as a number: an error that whoever sees it in the log understands. */
const CHECK_HELD = bulk(
  'check_held',
  HELD_COLUMNS,
  (x) => `
    select sum(case when f.ctid is null then ('${NOT_AS_REMEMBERED}; task ' || x.task_id)::int end)
    from ${x} left join lateral (${FREE}) as f on true`,
)

/** With one that it misses, the task would lie on two shelves: so what is gone is counted. */
const TAKE_HELD = bulk(
  'take_held',
  HELD_COLUMNS,
  (x) => `
    with gone as (
      delete from leased
      where ${liesIn('leased', `select f.ctid from ${x} cross join lateral (${FREE}) as f`)}
      returning 1
    )
    select case when missed.are > 0 then ('${NOT_AS_REMEMBERED}; tasks: ' || missed.are)::int end
    from (select (select count(*) from ${x}) - (select count(*) from gone) as are offset 0) as missed`,
)

export function takeHeld(session: Session, tenantId: string, holdings: readonly Holding[]): Promise<unknown> {
  return session.each(TAKE_HELD, tenantId, holdings.map(heldToRow))
}

export function expectHeld(
  session: Session,
  tenantId: string,
  holdings: readonly Holding[],
): Promise<unknown> {
  return session.each(CHECK_HELD, tenantId, holdings.map(heldToRow))
}
