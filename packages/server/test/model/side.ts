// One side of the comparison: a store under the pure core, without the engine's timing. What would differ from run to run
// (ids, chance, time) is made from the number of the step, so that both sides, and every repetition, decide alike.
import type { Clock } from '../../src/clock.ts'
import type { Command } from '../../src/engine/command.ts'
import { decideBatch, type Result } from '../../src/engine/decide/index.ts'
import { needsOf } from '../../src/engine/needs.ts'
import type { Policy } from '../../src/engine/policy.ts'
import type { Changes } from '../../src/engine/unit.ts'
import { createIds } from '../../src/ids.ts'
import type { Store } from '../../src/store/port.ts'
import { createSeededRandom } from '../seeded-random.ts'

export interface Moment {
  readonly now: number
  /** Which step of the run this is. */
  readonly number: number
}

export interface Side {
  readonly store: Store
  readonly tenantId: string
  execute(commands: readonly Command[], at: Moment): Promise<readonly Result[]>
  /** One pass of the reaper: what is due is found, and decided under the lock. */
  sweep(at: Moment): Promise<readonly Result[]>
}

const EVERYTHING = 100_000

export function createSide({
  store,
  tenantId,
  policy,
}: {
  store: Store
  tenantId: string
  policy: Policy
}): Side {
  async function commit(commands: readonly Command[], at: Moment): Promise<readonly Result[]> {
    const { results, changes } = await store.transact({
      tenantId,
      now: at.now,
      needs: needsOf(commands, policy),
      decide: (snapshot) => {
        const { changes: decided, result } = decideBatch(snapshot, commands, contextOf(at))
        return { changes: decided, result: { results: result, changes: decided } }
      },
    })
    return [...results, ...(await resolve(changes, at))]
  }

  /** As the engine does: whoever ended a task finds its dependents moved. */
  async function resolve(changes: Changes, at: Moment): Promise<readonly Result[]> {
    if (changes.endedDependencies.length === 0) return []
    const dependents = await store.dependentsOf(tenantId, changes.endedDependencies)
    if (dependents.length === 0) return []
    const commands = byTask(dependents).map(
      ({ taskId, dependsOn }): Command => ({ kind: 'resolve', taskId, dependsOn: dependsOn.toSorted() }),
    )
    return commit(commands, { ...at, number: at.number + 0.1 })
  }

  /** Made anew for each decision: a store may decide twice, and must decide the same. */
  function contextOf({ now, number }: Moment) {
    const random = createSeededRandom(Math.round(number * 1_000_003))
    const clock: Clock = { now: () => now, after: () => () => {} }
    return { tenantId, now, random, ids: createIds({ clock, random }), policy, instance: 'model' }
  }

  const here = <T extends { tenantId: string }>(found: readonly T[]) =>
    found.filter((row) => row.tenantId === tenantId)

  async function due(now: number): Promise<Command[]> {
    const timers = byTask(here(await store.dueTimers(now, EVERYTHING)))
    const leases = byTask(here(await store.dueLeases(now, EVERYTHING)))
    const dependents = byTask(here(await store.dueDependents(EVERYTHING)))
    return [
      ...(await Promise.all(
        timers.map(async ({ taskId, kind }): Promise<Command> => {
          const task = await store.readTask(tenantId, taskId)
          return kind === 'deadline'
            ? { kind, taskId }
            : { kind, taskId, assignedReceiptId: task!.definition.assignedReceiptId }
        }),
      )),
      ...leases.map(({ taskId, leaseId }): Command => ({ kind: 'expire', taskId, leaseId })),
      ...dependents.map(
        ({ taskId, dependsOn }): Command => ({ kind: 'resolve', taskId, dependsOn: dependsOn.toSorted() }),
      ),
    ]
  }

  return {
    store,
    tenantId,
    execute: commit,
    sweep: async (at) => {
      const commands = await due(at.now)
      return commands.length === 0 ? [] : commit(commands, at)
    },
  }
}

/** The order in which a store finds what is due is its own affair. */
function byTask<T extends { taskId: string }>(found: readonly T[]): T[] {
  return found.toSorted((a, b) => (a.taskId < b.taskId ? -1 : a.taskId > b.taskId ? 1 : 0))
}
