// What workers hold, as this process last committed it. Whoever holds a task will report on it, most likely to the process
// that granted it. What was asked for never changes, so that it need not be read again; what became of it others may have
// changed, so that whoever decides by it has that checked by what it writes.
import { surelyFits } from '../../engine/ledger.ts'
import { isActive, isTerminal, type Lease, type Task, type TaskDefinition } from '../../engine/model.ts'
import type { Changes } from '../../engine/unit.ts'
import { definitionFromRow } from './definition-row.ts'
import { createDoubts } from './doubts.ts'
import type { Session } from './session.ts'
import { readDefinitions } from './statements/tasks.ts'

/** Beyond this the oldest are forgotten: reading one again costs a little, a map that only grows costs memory. */
const REMEMBERED_MAX = 10_000
/** What has a larger payload is read again. */
const BYTES_MAX = 8_192
export interface Holding {
  readonly task: Task
  readonly lease: Lease
}

export interface Holdings {
  /** Those of these tasks that there are. */
  definitions(
    session: Session,
    tenantId: string,
    taskIds: readonly string[],
  ): Promise<ReadonlyMap<string, TaskDefinition>>
  /** Those of these tasks whose leases this process granted, as they were when it last heard of them. */
  of(tenantId: string, taskIds: Iterable<string>): Holding[]
  /** To be called once the transaction that made these changes has been committed. */
  committed(tenantId: string, changes: Changes): void
  /** They may not have been as remembered. */
  doubt(tenantId: string, holdings: readonly Holding[]): void
}

interface Remembered {
  readonly tenantId: string
  readonly task: Task
  readonly lease: Lease | null
}

export function createHoldings(): Holdings {
  const remembered = new Map<string, Remembered>()
  // Where workers speak now with one instance, now with another, what each remembers is often wrong.
  const doubts = createDoubts()

  function definitionOf(tenantId: string, taskId: string): TaskDefinition | undefined {
    const known = remembered.get(taskId)
    return known?.tenantId === tenantId ? known.task.definition : undefined
  }

  function noteTask(tenantId: string, task: Task, granted: Lease | undefined): void {
    const { taskId } = task.definition
    const before = remembered.get(taskId)
    if (task.state.status === 'queued' || isTerminal(task.state.status)) {
      remembered.delete(taskId)
    } else if (before !== undefined || isSmall(task.definition)) {
      if (before === undefined && remembered.size === REMEMBERED_MAX)
        remembered.delete(remembered.keys().next().value!)
      const { definition, state } = task // and not where its row lay when it was read
      const lease = granted ?? before?.lease ?? null
      remembered.set(taskId, { tenantId, task: { definition, state }, lease })
    }
  }

  function noteLease(lease: Lease): void {
    const before = remembered.get(lease.taskId)
    if (before?.lease?.leaseId === lease.leaseId) remembered.set(lease.taskId, { ...before, lease })
  }

  return {
    definitions: async (session, tenantId, taskIds) => {
      const found = new Map<string, TaskDefinition>()
      const others: string[] = []
      for (const taskId of taskIds) {
        const known = definitionOf(tenantId, taskId)
        if (known === undefined) others.push(taskId)
        else found.set(taskId, known)
      }
      for (const row of await readDefinitions(session, tenantId, others))
        found.set(row.task_id, definitionFromRow(row))
      return found
    },
    of: (tenantId, taskIds) => {
      const found: Holding[] = []
      if (doubts.isIn(tenantId)) return found
      for (const taskId of taskIds) {
        const known = remembered.get(taskId)
        if (known?.tenantId === tenantId && known.lease !== null)
          found.push({ task: known.task, lease: known.lease })
      }
      return found
    },
    committed: (tenantId, { createdTasks, changedTasks, grantedLeases, changedLeases }) => {
      const granted = new Map(grantedLeases.filter(isActive).map((lease) => [lease.taskId, lease]))
      for (const task of createdTasks) noteTask(tenantId, task, granted.get(task.definition.taskId))
      for (const { after } of changedTasks) noteTask(tenantId, after, granted.get(after.definition.taskId))
      for (const lease of changedLeases) if (isActive(lease)) noteLease(lease)
    },
    doubt: (tenantId, holdings) => {
      doubts.raise(tenantId)
      for (const { task } of holdings) {
        const known = remembered.get(task.definition.taskId)
        if (known !== undefined) remembered.set(task.definition.taskId, { ...known, lease: null })
      }
    },
  }
}

/** The contract keeps the rest of it small. */
function isSmall({ payload, metadata }: TaskDefinition): boolean {
  return surelyFits(payload, BYTES_MAX) && surelyFits(metadata, BYTES_MAX)
}
