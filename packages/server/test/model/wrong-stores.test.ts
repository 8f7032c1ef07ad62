// A test of the test: the comparison tells a store that is wrong in one small way from the oracle.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Store } from '../../src/store/port.ts'
import type { Snapshot } from '../../src/engine/unit.ts'
import { createPair, steps } from './run.ts'

const RUNS_MAX = 30
const STEPS_MAX = 100

/** The memory store with another view of what it loads. */
function seeing(change: (snapshot: Snapshot) => Snapshot): Store {
  const store = createMemoryStore()
  return {
    ...store,
    transact: (unit) => store.transact({ ...unit, decide: (snapshot) => unit.decide(change(snapshot)) }),
  }
}

const WRONG: Readonly<Record<string, () => Store>> = {
  'offers the oldest first': () =>
    seeing((snapshot) => ({
      ...snapshot,
      candidates: new Map(
        [...snapshot.candidates].map(([key, { taskIds, more }]) => [
          key,
          { taskIds: taskIds.toSorted(), more },
        ]),
      ),
    })),
  'forgets what is parked': () => seeing((snapshot) => ({ ...snapshot, parked: new Map() })),
  'counts no leases under a key': () => seeing((snapshot) => ({ ...snapshot, activeByKey: new Map() })),
  'does not find receipts by their key': () =>
    seeing((snapshot) => ({ ...snapshot, receiptsByKey: new Map() })),
  'promotes delayed tasks a second late': () => {
    const store = createMemoryStore()
    return { ...store, transact: (unit) => store.transact({ ...unit, now: unit.now - 1_000 }) }
  },
  'calls discharged obligations open': () => {
    const store = createMemoryStore()
    const first = new Map<string, Awaited<ReturnType<Store['openObligations']>>>()
    return {
      ...store,
      openObligations: async (query) => {
        const open = await store.openObligations(query)
        const before = first.get(query.principal.id) ?? []
        first.set(query.principal.id, open)
        return before.length > open.length ? before : open
      },
    }
  },
}

test.each(Object.entries(WRONG))('it finds a store that %s', async (_name, open) => {
  const property = fc.asyncProperty(steps(STEPS_MAX), async (commands) => {
    await fc.asyncModelRun(() => createPair(open(), { tenantId: 'wrong', met: new Map() }), commands)
  })
  const found = await fc.check(property, { seed: 1, numRuns: RUNS_MAX, unbiased: true, endOnFailure: true })
  expect(found.failed).toBe(true)
})
