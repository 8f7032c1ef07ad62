// The reaper: finds what time has decided (lost leases, timeouts, deadlines, dependencies that ended while nobody
// looked) and has the engine decide it. Any number of instances may sweep at once: each finding is checked again
// under the lock, so that each lease is expired exactly once.
import type { Clock } from '../clock.ts'
import type { Command } from '../engine/command.ts'
import type { Engine } from '../engine/engine.ts'
import type { Store } from '../store/port.ts'

/** One commit's worth; the pass repeats until nothing is due. */
const SWEEP_BATCH = 500
/** A pass ends even if work arrives as fast as it sweeps. */
const BATCHES_PER_PASS_MAX = 200

export interface Swept {
  readonly leases: number
  readonly timers: number
  readonly dependents: number
}

export interface ReaperParts {
  readonly store: Pick<Store, 'dueLeases' | 'dueTimers' | 'dueDependents' | 'readTask'>
  readonly engine: Pick<Engine, 'execute'>
  readonly clock: Clock
  /** How long an expired lease is left alone; it is dead all the same. */
  readonly graceMs: number
}

type DueTimer = Awaited<ReturnType<Store['dueTimers']>>[number]
type Found = { readonly tenantId: string; readonly command: Command }

export function createReaper({ store, engine, clock, graceMs }: ReaperParts) {
  async function sweep(find: () => Promise<readonly Found[]>): Promise<number> {
    let count = 0
    for (let batch = 0; batch < BATCHES_PER_PASS_MAX; batch++) {
      const found = await find()
      for (const [tenantId, commands] of byTenant(found)) await engine.execute(tenantId, commands)
      count += found.length
      if (found.length < SWEEP_BATCH) break
    }
    return count
  }

  /** What the anomaly will name is read first, so that the decision can tell whether another sweep has raised it. */
  async function toCommand({ tenantId, taskId, kind }: DueTimer): Promise<Command> {
    if (kind === 'deadline') return { kind, taskId }
    const task = await store.readTask(tenantId, taskId)
    return { kind, taskId, assignedReceiptId: task?.definition.assignedReceiptId ?? taskId }
  }

  return {
    runOnce: async (): Promise<Swept> => ({
      timers: await sweep(async () => {
        const due = await store.dueTimers(clock.now(), SWEEP_BATCH)
        return Promise.all(
          due.map(async (timer) => ({ tenantId: timer.tenantId, command: await toCommand(timer) })),
        )
      }),
      leases: await sweep(async () =>
        (await store.dueLeases(clock.now() - graceMs, SWEEP_BATCH)).map(({ tenantId, taskId, leaseId }) => ({
          tenantId,
          command: { kind: 'expire', taskId, leaseId },
        })),
      ),
      dependents: await sweep(async () =>
        (await store.dueDependents(SWEEP_BATCH)).map(({ tenantId, taskId, dependsOn }) => ({
          tenantId,
          command: { kind: 'resolve', taskId, dependsOn },
        })),
      ),
    }),
  }
}

function byTenant(found: readonly Found[]): Map<string, Command[]> {
  const groups = new Map<string, Command[]>()
  for (const { tenantId, command } of found) {
    groups.set(tenantId, [...(groups.get(tenantId) ?? []), command])
  }
  return groups
}
