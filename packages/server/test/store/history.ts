// A long random history on the store and on the memory store, side by side: every answer, and all that is
// left, are equal.
import { expect, test } from 'vitest'
import type { Command } from '../../src/engine/command.ts'
import { decideBatch } from '../../src/engine/decide/index.ts'
import { needsOf } from '../../src/engine/needs.ts'
import { createIds } from '../../src/ids.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Store, TaskView } from '../../src/store/port.ts'
import { createSeededRandom } from '../seeded-random.ts'
import type { Given } from './conformance.ts'
import { anyCommand, type Choosing, type Known, learn } from './random-commands.ts'
import { AGENT, EVERY_RECEIPT, EVERY_TASK, POLICY } from './rig.ts'

const BATCHES = 120

export function history(given: Given): void {
  test.each([1, 2, 3])('random history %i is the same as in memory', async (seed) => {
    const tenantId = `history ${process.pid} ${seed}`
    const sides = [side(given().store, tenantId, seed), side(createMemoryStore(), tenantId, seed)] as const
    const chance = createSeededRandom(seed)
    const known: Known = { taskIds: [], receiptIds: [], grants: [] }
    let now = Date.UTC(2026, 0, 1)
    for (let batch = 0; batch < BATCHES; batch++) {
      now += chance.below(20_000)
      const commands = await choose(sides[1].store, { tenantId, now, chance, known })
      const [result, wanted] = await Promise.all(sides.map((each) => each.run(commands, { now, batch })))
      expect(result, `batch ${batch}: ${JSON.stringify(commands)}`).toEqual(wanted)
      learn(known, commands, wanted!)
    }
    const wanted = await remains(sides[1].store, tenantId, now)
    for (const [what, found] of Object.entries(await remains(sides[0].store, tenantId, now))) {
      expect(found, what).toEqual(wanted[what as keyof typeof wanted])
    }
  })
}

function side(store: Store, tenantId: string, seed: number) {
  return {
    store,
    run: async (commands: readonly Command[], { now, batch }: { now: number; batch: number }) => {
      const results = await store.transact({
        tenantId,
        now,
        needs: needsOf(commands, POLICY),
        decide: (snapshot) => {
          // Of the batch alone: a store may have it decided more than once.
          const random = createSeededRandom(seed * BATCHES + batch)
          const ids = createIds({ clock: { now: () => 0, after: () => () => {} }, random })
          const context = { tenantId, now, ids, random, policy: POLICY, instance: 'test' }
          return decideBatch(snapshot, commands, context)
        },
      })
      return results.map((result) => (result.ok ? result : { ok: false, error: result.error.body() }))
    },
  }
}

async function choose(oracle: Store, of: Choosing & { tenantId: string }): Promise<Command[]> {
  const commands = Array.from({ length: 1 + of.chance.below(8) }, () => anyCommand(of))
  if (of.chance.below(4) > 0) return commands
  const leases = await oracle.dueLeases(of.now, 50)
  const timers = await oracle.dueTimers(of.now, 50)
  const dependents = await oracle.dependentsOf(of.tenantId, of.known.taskIds)
  return [
    ...commands,
    ...leases.map(({ taskId, leaseId }) => ({ kind: 'expire', taskId, leaseId }) as const),
    ...timers
      .filter(({ kind }) => kind === 'deadline')
      .map(({ taskId }) => ({ kind: 'deadline', taskId }) as const),
    ...dependents.map(({ taskId, dependsOn }) => ({ kind: 'resolve', taskId, dependsOn }) as const),
  ]
}

/**
 * Of the tasks that wait under a concurrency key, a store may offer more to the engine than there is room
 * for; which of them are ready and which are parked then differs, and whom they are granted to does not.
 */
function comparable(task: TaskView): TaskView {
  if (task.definition.concurrencyKey === null || task.state.status !== 'queued') return task
  return { ...task, state: { ...task.state, place: 'none', updatedAt: 0 } }
}

/** All that a store can tell of a tenant. */
async function remains(store: Store, tenantId: string, now: number) {
  const tasks = await store.listTasks({ ...EVERY_TASK, tenantId, limit: 10_000 })
  const receipts = await store.listReceipts({ ...EVERY_RECEIPT, tenantId })
  const ids = tasks.map(({ definition }) => definition.taskId)
  const progress = await Promise.all(
    ids.map((taskId) => store.listProgress({ tenantId, taskId, after: null, limit: 100 })),
  )
  const ends = receipts.map(({ receipt }) => store.dischargedBy(tenantId, receipt.receiptId))
  const own = <T extends { tenantId: string }>(found: readonly T[]) =>
    found
      .filter((each) => each.tenantId === tenantId)
      .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  return {
    tasks: tasks.map(comparable),
    receipts,
    progress,
    ends: await Promise.all(ends),
    open: await store.openObligations({ tenantId, principal: AGENT, after: null, limit: 10_000 }),
    relationship: { ...(await store.readRelationship(tenantId, AGENT)), instanceId: undefined },
    active: [await store.countActive(tenantId, 'k0'), await store.countActive(tenantId, 'k1')],
    nextEligibleAt: await store.nextEligibleAt(tenantId),
    dueLeases: own(await store.dueLeases(now + 1e9, 100_000)),
    dueTimers: own(await store.dueTimers(now + 1e9, 100_000)),
    dependents: own(await store.dependentsOf(tenantId, ids)),
  }
}
