// One durable unit of work: load, decide, write, commit; and again from the start when another transaction
// was in the way.
import { type Decision, isEmpty, type Unit } from '../../engine/unit.ts'
import { activeTasksMaxOf } from '../../engine/usage.ts'
import type { Crowded } from './crowded.ts'
import { StoreFailure, toCaller } from './failure.ts'
import type { Holding, Holdings } from './holdings.ts'
import type { Lanes } from './lanes.ts'
import { load, type Loading } from './load.ts'
import type { Driver, Outlook, Transaction } from './session.ts'
import { write } from './write.ts'

/** A unit that keeps losing races is better answered than tried for ever. */
const ATTEMPTS_MAX = 5

interface Parts {
  readonly driver: Driver
  readonly lanes: Lanes
  readonly keyed: Set<string>
  readonly crowded: Crowded
  readonly holdings: Holdings
}

/** What is remembered from one attempt to the next. */
type Found = Pick<Loading, 'strays' | 'promoted'> & { isFirst: boolean }

export async function transact<T>(parts: Parts, unit: Unit<T>): Promise<T> {
  const found: Found = { strays: new Map(), promoted: new Set(), isFirst: true }
  for (let failures = 0; ; found.isFirst = false) {
    try {
      const done = await attempt(parts, unit, found)
      if (done !== null) return done.result
    } catch (error) {
      failures += 1
      const again = error instanceof StoreFailure && error.kind === 'conflict' && failures < ATTEMPTS_MAX
      if (!again) throw toCaller(error)
    }
  }
}

/** Statements that belong together and decide nothing. */
export async function inTransaction<T>(
  { driver, tenantId }: { driver: Pick<Driver, 'begin'>; tenantId: string },
  run: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const tx = await driver.begin(tenantId)
  try {
    const result = await run(tx)
    await tx.commit(Promise.resolve())
    return result
  } catch (error) {
    await tx.rollback()
    throw error
  }
}

/** `null`: something had to be done first; see `load`. */
async function attempt<T>(parts: Parts, unit: Unit<T>, found: Found): Promise<Decision<T> | null> {
  const { driver, keyed, crowded, holdings } = parts
  const tx = await driver.begin(unit.tenantId, found.isFirst ? outlookOn(parts, unit) : undefined)
  const trusted = found.isFirst ? trustedBy(parts, unit) : []
  try {
    // Its turn may have come when something was no longer remembered.
    if (tx.isOptimistic && !locksNothing(parts, unit, trusted)) {
      await tx.rollback()
      return null
    }
    const snapshot = await load({ driver, tx, keyed, crowded, holdings, trusted, ...found, ...unit })
    if (snapshot === null) {
      await tx.commit(Promise.resolve())
      return null
    }
    const decision = unit.decide(snapshot)
    await finish(tx, unit, { decision, trusted }, parts)
    return decision
  } catch (error) {
    if (trusted.length > 0) holdings.doubt(unit.tenantId, trusted)
    await tx.rollback()
    throw error
  }
}

/**
 * What this process knows of tasks that are held is decided by without a look. On PostgreSQL most commits then have one stage
 * instead of two. Of those with a concurrency key others are counted, behind a lock.
 */
function trustedBy({ holdings }: Parts, { tenantId, needs }: Unit<unknown>): Holding[] {
  return holdings
    .of(tenantId, needs.heldTaskIds)
    .filter(({ task }) => task.definition.concurrencyKey === null)
}

function outlookOn(parts: Parts, unit: Unit<unknown>): Outlook {
  return {
    commands: unit.needs.commands,
    locksNothing: () => locksNothing(parts, unit, trustedBy(parts, unit)),
  }
}

/**
 * Whether `load` has nothing to lock but what claims find. What else it reads never changes, or is checked by what is written:
 * that a key is new, and that the quota of tasks has room.
 */
function locksNothing(
  { crowded }: Parts,
  { tenantId, needs }: Unit<unknown>,
  trusted: readonly Holding[],
): boolean {
  return (
    trusted.length === needs.taskIds.size &&
    needs.obligationsOf.size === 0 &&
    needs.concurrencyKeys.size === 0 &&
    needs.countedWorkers.size === 0 &&
    !needs.countTenantLeases &&
    !(needs.activeTasksMax !== null && crowded.has(tenantId))
  )
}

async function finish(
  tx: Transaction,
  { tenantId, needs }: Unit<unknown>,
  { decision, trusted }: { readonly decision: Decision<unknown>; readonly trusted: readonly Holding[] },
  { driver, lanes, holdings }: Parts,
) {
  const { changes } = decision
  const writing = { driver, changes, lanes, trusted, activeTasksMax: activeTasksMaxOf(needs, changes) }
  const written = isEmpty(changes) ? driver.expectHeld(tx, tenantId, trusted) : write(tx, tenantId, writing)
  // Committed even when nothing changed: delayed tasks may have been moved.
  await tx.commit(written)
  lanes.committed(tenantId, changes.createdTasks)
  holdings.committed(tenantId, changes)
}
