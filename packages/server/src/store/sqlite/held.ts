// What was decided by as it was remembered is checked before it is changed: to compare a row costs less than to read it.
// Other processes may have changed it, and so may the commit before this one, which is remembered once it has been flushed.
import { HELD_COLUMNS, heldToRow, IS_AS_HELD } from '../sql/held-row.ts'
import type { Holding } from '../sql/holdings.ts'
import { type Bulk, bulk, type Session } from '../sql/session.ts'

const CHECK_HELD: Bulk<typeof HELD_COLUMNS> = {
  ...bulk(
    'check_held',
    HELD_COLUMNS,
    (x) => `select 1 as one from ${x} cross join leased f on ${IS_AS_HELD}`,
  ),
  expects: 'row',
}

const TAKE_HELD: Bulk<typeof HELD_COLUMNS> = {
  ...bulk('take_held', HELD_COLUMNS, () => `delete from leased as f where ${IS_AS_HELD}`),
  expects: 'change',
}

/** With `returning`, it would take two fifths longer. */
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
