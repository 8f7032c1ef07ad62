// What was decided by as it was remembered is checked where it is written, which spares a look at each row before. Other
// processes may have changed it, and so may the commit before this one, which is remembered once it has been flushed.
import { StoreFailure } from '../sql/failure.ts'
import { HELD_COLUMNS, heldToRow, isAsHeld } from '../sql/held-row.ts'
import type { Holding } from '../sql/holdings.ts'
import { type Bulk, bulk, type Expected, type Session } from '../sql/session.ts'

const TAKE_HELD = bulk(
  'take_held',
  HELD_COLUMNS,
  () => `delete from leased where ${isAsHeld('leased')} returning 1 as one`,
)

const CHECK_HELD = bulk(
  'check_held',
  HELD_COLUMNS,
  (x) => `select 1 as one from ${x} cross join leased f on ${isAsHeld('f')}`,
)

/** At once, before anything else is written. */
export function expectHeld(
  session: Session,
  tenantId: string,
  { leaving, staying }: Expected,
): Promise<unknown> {
  return Promise.all([
    findAll(session, tenantId, TAKE_HELD, leaving),
    findAll(session, tenantId, CHECK_HELD, staying),
  ])
}

async function findAll(
  session: Session,
  tenantId: string,
  of: Bulk<typeof HELD_COLUMNS>,
  holdings: readonly Holding[],
): Promise<void> {
  const found = await session.each(of, tenantId, holdings.map(heldToRow))
  if (found.length < holdings.length)
    throw new StoreFailure('conflict', new Error('a lease is not as remembered'))
}
