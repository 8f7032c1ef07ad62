// Moving tasks from shelf to shelf. What leaves comes first: a task may go back to the shelf that it was taken from, as one
// does that is released and granted to the next worker in one batch.
import { isActive, isTerminal, type Lease, type Task } from '../../engine/model.ts'
import type { Changes } from '../../engine/unit.ts'
import { endedToRow, settlementToRow } from './ended-row.ts'
import { leasedToChange, leasedToRow, leaseToRenewal } from './leased-row.ts'
import { isUntouched, newQueuedToRow, queuedToChange, queuedToRow } from './queued-row.ts'
import type { Session } from './session.ts'
import { insertEnded, insertSettlements } from './statements/ended.ts'
import { deleteLeased, insertLeased, renewLeases, updateLeased } from './statements/leased.ts'
import { deleteQueued, insertNewQueued, insertQueued, updateQueued } from './statements/queued.ts'

export function writeShelves(session: Session, tenantId: string, changes: Changes): Promise<unknown> {
  const { left, entered, kept } = sortByShelf(changes)
  const { renewed, lastWords, otherWords } = sortLeases(changes, entered.ended)
  const granted = new Map(changes.grantedLeases.filter(isActive).map((lease) => [lease.taskId, lease]))
  return Promise.all([
    deleteQueued(session, tenantId, left.queued),
    deleteLeased(session, tenantId, left.leased),
    insertNewQueued(session, tenantId, entered.queued.filter(isUntouched).map(newQueuedToRow)),
    insertQueued(session, tenantId, entered.queued.filter((task) => !isUntouched(task)).map(queuedToRow)),
    insertLeased(
      session,
      tenantId,
      entered.leased.map((task) => leasedToRow(task, granted.get(task.definition.taskId)!)),
    ),
    insertEnded(
      session,
      tenantId,
      entered.ended.map((task) => endedToRow(task, lastWords.get(task.definition.taskId))),
    ),
    updateQueued(session, tenantId, kept.queued.map(queuedToChange)),
    updateLeased(session, tenantId, kept.leased.map(leasedToChange)),
    renewLeases(session, tenantId, renewed.map(leaseToRenewal)),
    insertSettlements(session, tenantId, otherWords.map(settlementToRow)),
  ])
}

type Shelf = 'queued' | 'leased' | 'ended'

function shelfOf({ state: { status } }: Task): Shelf {
  if (status === 'queued') return 'queued'
  return isTerminal(status) ? 'ended' : 'leased'
}

function sortByShelf({ createdTasks, changedTasks, grantedLeases }: Changes) {
  const left: Record<Shelf, string[]> = { queued: [], leased: [], ended: [] }
  const entered: Record<Shelf, Task[]> = { queued: [], leased: [], ended: [] }
  const kept: Record<Shelf, Task[]> = { queued: [], leased: [], ended: [] }
  const granted = new Set(grantedLeases.filter(isActive).map(({ taskId }) => taskId))
  for (const task of createdTasks) entered[shelfOf(task)].push(task)
  for (const { before, after } of changedTasks) {
    const { taskId } = after.definition
    const [from, to] = [shelfOf(before), shelfOf(after)]
    if (from === 'ended') throw new Error(`Task ${taskId} has ended, and was changed.`)
    if (from === to && !granted.has(taskId)) {
      kept[to].push(after)
    } else {
      left[from].push(taskId)
      entered[to].push(after)
    }
  }
  return { left, entered, kept }
}

/** A worker's last word stays with the task that it ended, or by itself. */
function sortLeases({ grantedLeases, changedLeases }: Changes, ended: readonly Task[]) {
  const fences = new Map(ended.map(({ definition, state }) => [definition.taskId, state.fence]))
  const lastWords = new Map<string, Lease>()
  const otherWords: Lease[] = []
  for (const lease of [...grantedLeases, ...changedLeases]) {
    if (lease.settlement === null) continue
    if (fences.get(lease.taskId) === lease.fence) lastWords.set(lease.taskId, lease)
    else otherWords.push(lease)
  }
  return { renewed: changedLeases.filter(isActive), lastWords, otherWords }
}
