// One durable unit of work: load, decide, write, commit; and again from the start when another transaction
// was in the way.
import { type Decision, isEmpty, type Unit } from '../../engine/unit.ts'
import { activeTasksMaxOf } from '../../engine/usage.ts'
import type { Crowded } from './crowded.ts'
import type { Doubts } from './doubts.ts'
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
  /** Whether a tenant's idempotency keys are new. */
  readonly doubts: Doubts
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
  const { driver, keyed, crowded, holdings, doubts } = parts
  const tx = await driver.begin(unit.tenantId, found.isFirst ? outlookOn(parts, unit) : undefined)
  const trusted = found.isFirst ? trustedBy(parts, unit) : []
  const looksUpKeys = !(found.isFirst && takesKeysForNew(parts, unit))
  try {
    // What is not remembered must be locked.
    const mustLock = tx.isOptimistic && trusted.length < unit.needs.taskIds.size
    const snapshot = mustLock
      ? null
      : await load({ driver, tx, keyed, crowded, holdings, trusted, looksUpKeys, ...found, ...unit })
    if (snapshot === null) {
      // An optimistic one has written nothing.
      await (tx.isOptimistic ? tx.rollback() : tx.commit(Promise.resolve()))
      return null
    }
    const decision = unit.decide(snapshot)
    if (decision.mustKnowKeys) {
      doubts.raise(unit.tenantId)
      await tx.rollback()
      return null
    }
    await finish(tx, unit, { decision, trusted }, parts)
    return decision
  } catch (error) {
    const isKnownKey = error instanceof StoreFailure && error.isKnownKey
    if (isKnownKey && !looksUpKeys) doubts.raise(unit.tenantId)
    // A key that was there says nothing of what is held.
    if (!isKnownKey && trusted.length > 0) holdings.doubt(unit.tenantId, trusted)
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

/**
 * Most callers make a key up for each creation, and use it again only if they were not answered. So keys are not looked for: the
 * unique index refuses one that there is, and then they are. That saves most creations one of two stages.
 */
function takesKeysForNew({ driver, doubts }: Parts, { tenantId, needs }: Unit<unknown>): boolean {
  return driver.looksCost && needs.idempotencyHashes.size > 0 && !doubts.isIn(tenantId)
}

/**
 * What `load` locks, or else counts. What else it reads never changes, or is checked by what is written: that a key is new, and
 * that the quota of tasks has room.
 */
function outlookOn({ keyed, crowded }: Parts, { tenantId, needs }: Unit<unknown>): Outlook {
  const locksNothing =
    needs.taskIds.size === needs.heldTaskIds.size &&
    needs.concurrencyKeys.size === 0 &&
    needs.countedWorkers.size === 0 &&
    !needs.countTenantLeases &&
    !(needs.claims.length > 0 && keyed.has(tenantId)) &&
    !(needs.activeTasksMax !== null && crowded.has(tenantId))
  return { commands: needs.commands, locksNothing }
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
