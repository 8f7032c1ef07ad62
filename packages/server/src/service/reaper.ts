// The reaper: finds what time has decided (lost leases, timeouts, deadlines, dependencies that ended while nobody
// looked) and has the engine decide it. Any number of instances may sweep at once: each finding is checked again
// under the lock, so that each lease is expired exactly once.
import type { GateError } from '@asyncgate/sdk'
import type { Clock } from '../clock.ts'
import type { Command } from '../engine/command.ts'
import type { Engine } from '../engine/engine.ts'
import type { Store } from '../store/port.ts'

/** One commit's worth; the pass repeats until nothing is due. */
const SWEEP_BATCH = 500
/** A pass ends even if work arrives as fast as it sweeps. */
const BATCHES_PER_PASS_MAX = 200

/**
 * Looks for lost leases begin where one found that nothing was due: what is granted from then on is checked later, by clocks that are
 * no further apart than this. Otherwise they would step over every lease that has ended since a reader of PostgreSQL began to
 * read. From time to time all are looked at.
 */
const CLOCKS_APART_MS_MAX = 60_000
const LOOKS_UNTIL_WHOLE = 100

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
  /** A finding that the engine would not decide: a defect or a limit set too low. */
  readonly onRefused: (error: GateError) => void
}

type DueTimer = Awaited<ReturnType<Store['dueTimers']>>[number]
type Found = { readonly tenantId: string; readonly command: Command }

export function createReaper({ store, engine, clock, graceMs, onRefused }: ReaperParts) {
  let looks = 0
  let nothingUntil = 0

  async function findLostLeases() {
    const until = clock.now() - graceMs
    const after = looks++ % LOOKS_UNTIL_WHOLE === 0 ? 0 : nothingUntil
    const due = await store.dueLeases(until, SWEEP_BATCH, after)
    if (due.length === 0) nothingUntil = Math.max(nothingUntil, until - CLOCKS_APART_MS_MAX)
    return due
  }

  async function sweep(find: () => Promise<readonly Found[]>): Promise<number> {
    let count = 0
    for (let batch = 0; batch < BATCHES_PER_PASS_MAX; batch++) {
      const found = await find()
      const decided = await decideAll(found)
      count += decided
      // What was refused is found again; a batch of nothing else would be looked at for ever.
      if (found.length < SWEEP_BATCH || decided === 0) break
    }
    return count
  }

  async function decideAll(found: readonly Found[]): Promise<number> {
    let decided = 0
    for (const [tenantId, commands] of byTenant(found)) {
      const results = await engine.execute(tenantId, commands)
      decided += results.filter((result) => result.ok).length
      for (const result of results) if (!result.ok) onRefused(result.error)
    }
    return decided
  }

  /** What the anomaly will name is read first, so that the decision can tell whether another sweep has raised it. */
  async function toCommand({ tenantId, taskId, kind }: DueTimer): Promise<Command> {
    if (kind === 'deadline') return { kind, taskId }
    const task = await store.readTask(tenantId, taskId)
    return { kind, taskId, assignedReceiptId: task?.definition.assignedReceiptId ?? taskId }
  }

  const sweeps = {
    timers: async () => {
      const due = await store.dueTimers(clock.now(), SWEEP_BATCH)
      return Promise.all(
        due.map(async (timer) => ({ tenantId: timer.tenantId, command: await toCommand(timer) })),
      )
    },
    leases: async () =>
      (await findLostLeases()).map(({ tenantId, taskId, leaseId }) => ({
        tenantId,
        command: { kind: 'expire', taskId, leaseId } as const,
      })),
    dependents: async () =>
      (await store.dueDependents(SWEEP_BATCH)).map(({ tenantId, taskId, dependsOn }) => ({
        tenantId,
        command: { kind: 'resolve', taskId, dependsOn } as const,
      })),
  }

  return {
    /** Each sweep by itself: one that fails must not keep the others from being done. */
    runOnce: async (): Promise<Swept> => {
      const swept = { timers: 0, leases: 0, dependents: 0 }
      const failures: unknown[] = []
      for (const name of ['timers', 'leases', 'dependents'] as const) {
        try {
          swept[name] = await sweep(sweeps[name])
        } catch (error) {
          failures.push(error)
        }
      }
      if (failures.length > 0) throw failures[0] // the others most likely say the same
      return swept
    },
  }
}

function byTenant(found: readonly Found[]): Map<string, Command[]> {
  const groups = new Map<string, Command[]>()
  for (const { tenantId, command } of found) {
    groups.set(tenantId, [...(groups.get(tenantId) ?? []), command])
  }
  return groups
}
