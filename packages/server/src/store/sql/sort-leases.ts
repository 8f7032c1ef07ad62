// Where the leases of a commit are kept: in the row of the task that they hold or that they ended, or nowhere.
import { isActive, isTerminal, type Lease } from '../../engine/model.ts'
import { type Changes, tasksAfter } from '../../engine/unit.ts'

export interface SortedLeases {
  /** Granted in this commit, by their tasks. */
  readonly granted: ReadonlyMap<string, Lease>
  readonly renewed: readonly Lease[]
  /** Those that ended their tasks, by these, with a worker's last word. */
  readonly lastWords: ReadonlyMap<string, Lease>
  /** Other last words of workers. */
  readonly otherWords: readonly Lease[]
  /** From now on the rows of their tasks name them. */
  readonly named: readonly Lease[]
  /** Until now the rows of their tasks named them. */
  readonly former: readonly Lease[]
}

export function sortLeases(changes: Changes): SortedLeases {
  const { grantedLeases, changedLeases } = changes
  const fences = new Map<string, number>()
  for (const { definition, state } of tasksAfter(changes))
    if (isTerminal(state.status)) fences.set(definition.taskId, state.fence)
  const lastWords = new Map<string, Lease>()
  const otherWords: Lease[] = []
  for (const lease of [...grantedLeases, ...changedLeases]) {
    if (lease.settlement === null) continue
    if (fences.get(lease.taskId) === lease.fence) lastWords.set(lease.taskId, lease)
    else otherWords.push(lease)
  }
  const granted = grantedLeases.filter(isActive)
  return {
    granted: new Map(granted.map((lease) => [lease.taskId, lease])),
    renewed: changedLeases.filter(isActive),
    lastWords,
    otherWords,
    named: [...granted, ...lastWords.values()],
    former: changedLeases.filter((lease) => !isActive(lease) && lastWords.get(lease.taskId) !== lease),
  }
}
