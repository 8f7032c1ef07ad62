// A task's lock is the lock of its row on the shelf where it lies. Another transaction may be moving it from one shelf to
// the next meanwhile: then it is found on neither.
import type { Lease, Task } from '../../engine/model.ts'
import { definitionFromRow } from './definition-row.ts'
import { endedFromRow, lastLeaseFromRow } from './ended-row.ts'
import type { Holding, Holdings } from './holdings.ts'
import { leasedFromRow, leaseFromRow } from './leased-row.ts'
import { queuedFromRow } from './queued-row.ts'
import type { Session } from './session.ts'
import { lockEnded } from './statements/ended.ts'
import { lockLeased } from './statements/leased.ts'
import { lockQueued } from './statements/queued.ts'
import { readDefinitions } from './statements/tasks.ts'

export interface Locked {
  readonly tasks: ReadonlyMap<string, Task>
  /** Those that are active, and those that ended their task. */
  readonly leases: ReadonlyMap<string, Lease>
  /** Those that there are, but not where they were looked for. */
  readonly strays: readonly string[]
}

export interface Locking {
  readonly taskIds: readonly string[]
  readonly isHeld: (taskId: string) => boolean
  /** What need not be looked for; none of `taskIds`. */
  readonly trusted: readonly Holding[]
  readonly holdings: Holdings
}

/**
 * Shelf by shelf in the same order, and on each one after the other in the order of their ids, so that two transactions
 * that want the same tasks do not wait for each other. So nothing is looked for a second time, either: by then this
 * transaction holds what another may be waiting for. What is held is looked for among what is leased alone.
 */
export async function lockTasks(
  session: Session,
  tenantId: string,
  { isHeld, trusted, holdings, ...of }: Locking,
): Promise<Locked> {
  const tasks = new Map(trusted.map(({ task }) => [task.definition.taskId, task]))
  const leases = new Map(trusted.map(({ lease }) => [lease.leaseId, lease]))
  const taskIds = of.taskIds.toSorted()
  const elsewhere = taskIds.filter((taskId) => !isHeld(taskId))
  // Definitions come last: then whatever was found on a shelf has one.
  const [leased, queued, ended, defined] = await Promise.all([
    lockLeased(session, tenantId, taskIds),
    lockQueued(session, tenantId, elsewhere),
    lockEnded(session, tenantId, elsewhere),
    holdings.definitions(session, tenantId, taskIds),
  ])
  for (const row of leased) {
    tasks.set(row.task_id, leasedFromRow(row, defined.get(row.task_id)!))
    leases.set(row.lease_id, leaseFromRow(row))
  }
  for (const row of queued) tasks.set(row.task_id, queuedFromRow(row, defined.get(row.task_id)!))
  for (const row of ended) {
    tasks.set(row.task_id, endedFromRow(row, defined.get(row.task_id)!))
    if (row.lease_id !== null) leases.set(row.lease_id, lastLeaseFromRow(row))
  }
  return { tasks, leases, strays: [...defined.keys()].filter((taskId) => !tasks.has(taskId)) }
}

/** Of these, those that are queued, in the order given. */
export async function lockWaiting(
  session: Session,
  tenantId: string,
  taskIds: readonly string[],
): Promise<Task[]> {
  const [queued, defined] = await Promise.all([
    lockQueued(session, tenantId, taskIds),
    readDefinitions(session, tenantId, taskIds),
  ])
  const definitions = new Map(defined.map((row) => [row.task_id, definitionFromRow(row)]))
  return queued.map((row) => queuedFromRow(row, definitions.get(row.task_id)!))
}
