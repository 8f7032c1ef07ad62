// A test of the test: the comparison tells a store that is wrong in one small way from the oracle.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Store } from '../../src/store/port.ts'
import type { Snapshot } from '../../src/engine/unit.ts'
import { createPair, SEED, steps } from './run.ts'

const RUNS_MAX = 30

// biome-ignore format: a list reads as a list
const MET = [
  'ready', 'delayed', 'parked', 'waiting', 'none', 'queued', 'leased', 'running', 'succeeded', 'failed', 'canceled',
  'idempotency_conflict', 'invalid_transition', 'lease_invalid_or_expired', 'already_settled', 'lease_renewal_limit', 'not_found',
  'task.retry_scheduled', 'lease.expired', 'system.anomaly', 'receipt.acknowledged', 'schedule.created', 'x.note', 'schedule.deleted',
]

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
  const property = fc.asyncProperty(steps, async (commands) => {
    await fc.asyncModelRun(() => createPair(open(), { tenantId: 'wrong' }), commands)
  })
  const found = await fc.check(property, { seed: 1, numRuns: RUNS_MAX, unbiased: true, endOnFailure: true })
  expect(found.failed).toBe(true)
})

test('the steps meet every place, end and refusal that they are there to meet', async () => {
  const met = new Map<string, number>()
  const property = fc.asyncProperty(steps, async (commands) => {
    await fc.asyncModelRun(() => createPair(createMemoryStore(), { tenantId: 'met', met }), commands)
  })
  await fc.assert(property, { seed: SEED, numRuns: RUNS_MAX, unbiased: true })
  expect(MET.filter((what) => !met.has(what))).toEqual([])
})
