// Which workers have asked for work lately, so that `explain_task` can say what none of them has.
import type { ClaimCommand } from './command.ts'

/** Longer than any sane pause between two claims. */
const REMEMBERED_MS = 10 * 60 * 1_000
/** Bounds memory when worker ids are made up for each call. */
const WORKERS_MAX = 10_000

export interface RecentWorker {
  readonly workerId: string
  readonly capabilities: readonly string[]
  readonly acceptTypes: readonly string[] | null
  readonly seenAt: number
}

export interface RecentWorkers {
  note(tenantId: string, command: ClaimCommand, now: number): void
  list(tenantId: string, now: number): readonly RecentWorker[]
}

export function createRecentWorkers(): RecentWorkers {
  const tenants = new Map<string, Map<string, RecentWorker>>()
  return {
    note: (tenantId, { worker, filter }, now) => {
      const workers = tenants.get(tenantId) ?? new Map<string, RecentWorker>()
      tenants.set(tenantId, workers)
      // Deleting first keeps the map in order of sighting, so that the first entry is the one to forget.
      workers.delete(worker.id)
      workers.set(worker.id, { workerId: worker.id, ...filter, seenAt: now })
      if (workers.size > WORKERS_MAX) workers.delete(workers.keys().next().value!)
    },
    list: (tenantId, now) =>
      [...(tenants.get(tenantId)?.values() ?? [])].filter((worker) => now - worker.seenAt < REMEMBERED_MS),
  }
}
