// At most one active lease per task: the store's view and the history of grants agree on which one it is.
import type { Lease } from '../../../src/engine/model.ts'
import type { State } from '../state.ts'

export function* leaseProblems({ tasks }: State, leases: ReadonlyMap<string, Lease>): Generator<string> {
  const active = new Map<string, string>()
  for (const { leaseId, taskId, endedAt } of leases.values()) {
    if (endedAt !== null) continue
    if (active.has(taskId)) yield `${taskId} has two active leases`
    active.set(taskId, leaseId)
  }
  for (const [taskId, { lease }] of tasks) {
    const known = active.get(taskId)
    if (known !== lease?.leaseId) {
      yield `${taskId} is held by ${lease?.leaseId ?? 'nobody'}, the last grant that did not end is ${known ?? 'none'}`
    }
  }
}
