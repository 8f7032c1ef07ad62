// One durable unit of work: load, decide, write, commit; and again from the start when another transaction
// was in the way.
import { type Decision, isEmpty, type Unit } from '../../engine/unit.ts'
import { activeTasksMaxOf } from '../../engine/usage.ts'
import type { Crowded } from './crowded.ts'
import type { Definitions } from './definitions.ts'
import { StoreFailure, toCaller } from './failure.ts'
import type { Lanes } from './lanes.ts'
import { load, type Loading } from './load.ts'
import type { Driver, Transaction } from './session.ts'
import { write } from './write.ts'

/** A unit that keeps losing races is better answered than tried for ever. */
const ATTEMPTS_MAX = 5

interface Parts {
  readonly driver: Driver
  readonly lanes: Lanes
  readonly keyed: Set<string>
  readonly crowded: Crowded
  readonly definitions: Definitions
}

/** What is remembered from one attempt to the next. */
type Found = Pick<Loading, 'strays' | 'promoted'>

export async function transact<T>(parts: Parts, unit: Unit<T>): Promise<T> {
  const found: Found = { strays: new Map(), promoted: new Set() }
  for (let failures = 0; ; ) {
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
  const { driver, keyed, crowded, definitions } = parts
  const tx = await driver.begin(unit.tenantId)
  try {
    const snapshot = await load({ driver, tx, keyed, crowded, definitions, ...found, ...unit })
    if (snapshot === null) {
      await tx.commit(Promise.resolve())
      return null
    }
    const decision = unit.decide(snapshot)
    await finish(tx, unit, decision, parts)
    return decision
  } catch (error) {
    await tx.rollback()
    throw error
  }
}

async function finish(
  tx: Transaction,
  { tenantId, needs }: Unit<unknown>,
  decision: Decision<unknown>,
  { lanes, definitions }: Parts,
) {
  const { changes } = decision
  const writing = { changes, lanes, activeTasksMax: activeTasksMaxOf(needs, changes) }
  // Committed even when nothing changed: delayed tasks may have been moved.
  await tx.commit(isEmpty(changes) ? Promise.resolve() : write(tx, tenantId, writing))
  lanes.committed(tenantId, changes.createdTasks)
  definitions.committed(tenantId, changes)
}
