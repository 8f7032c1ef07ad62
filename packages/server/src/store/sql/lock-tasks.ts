// A task's lock is the lock of its row on the shelf where it lies. Another transaction may be moving it from one shelf to
// the next meanwhile: then it is found on neither.
import type { Lease, Task } from '../../engine/model.ts'
import { endedFromRow, settledFromRow } from './ended-row.ts'
import { leasedFromRow, leaseFromRow } from './leased-row.ts'
import { queuedFromRow } from './queued-row.ts'
import type { Session } from './session.ts'
import { lockEnded } from './statements/ended.ts'
import { lockLeased } from './statements/leased.ts'
import { lockQueued } from './statements/queued.ts'
import { knownTasks } from './statements/tasks.ts'

export interface Locked {
  readonly tasks: ReadonlyMap<string, Task>
  /** Those that are active, and those that ended their task. */
  readonly leases: ReadonlyMap<string, Lease>
  /** Those that there are, but not where they were looked for. */
  readonly strays: readonly string[]
}

/**
 * Shelf by shelf in the same order, and on each one after the other in the order of their ids, so that two transactions
 * that want the same tasks do not wait for each other. So nothing is looked for a second time, either: by then this
 * transaction holds what another may be waiting for. What is held is looked for among what is leased alone.
 */
export async function lockTasks(
  session: Session,
  tenantId: string,
  of: { readonly taskIds: readonly string[]; readonly isHeld: (taskId: string) => boolean },
): Promise<Locked> {
  const locked = { tasks: new Map<string, Task>(), leases: new Map<string, Lease>() }
  const taskIds = of.taskIds.toSorted()
  const elsewhere = taskIds.filter((taskId) => !of.isHeld(taskId))
  await lockOnShelves(session, tenantId, { leased: taskIds, queued: elsewhere, ended: elsewhere }, locked)
  const missing = taskIds.filter((taskId) => !locked.tasks.has(taskId))
  const strays = (await knownTasks(session, tenantId, missing)).map((row) => row.task_id)
  return { ...locked, strays }
}

type Shelves = Readonly<Record<'leased' | 'queued' | 'ended', readonly string[]>>

async function lockOnShelves(
  session: Session,
  tenantId: string,
  of: Shelves,
  { tasks, leases }: { tasks: Map<string, Task>; leases: Map<string, Lease> },
): Promise<void> {
  const [leased, queued, ended] = await Promise.all([
    lockLeased(session, tenantId, of.leased),
    lockQueued(session, tenantId, of.queued),
    lockEnded(session, tenantId, of.ended),
  ])
  for (const row of leased) {
    tasks.set(row.task_id, leasedFromRow(row))
    leases.set(row.lease_id, leaseFromRow(row))
  }
  for (const row of queued) tasks.set(row.task_id, queuedFromRow(row))
  for (const row of ended) {
    tasks.set(row.task_id, endedFromRow(row))
    if (row.lease_id !== null) leases.set(row.lease_id, settledFromRow(row))
  }
}
