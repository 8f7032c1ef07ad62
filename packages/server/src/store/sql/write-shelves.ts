// Moving tasks from shelf to shelf. What leaves comes first: a task may go back to the shelf that it was taken from, as one
// does that is released and granted to the next worker in one batch.
import { isTerminal, type Task } from '../../engine/model.ts'
import type { Changes } from '../../engine/unit.ts'
import { endedToRow, settlementToRow } from './ended-row.ts'
import type { Holding } from './holdings.ts'
import { leasedToChange, leasedToRow, leaseToRenewal } from './leased-row.ts'
import { isUntouched, newQueuedToRow, queuedToChange, queuedToRow } from './queued-row.ts'
import type { Driver, Session } from './session.ts'
import type { SortedLeases } from './sort-leases.ts'
import { insertEnded, insertSettlements } from './statements/ended.ts'
import { insertLeased, renewLeases, updateLeased } from './statements/leased.ts'
import { deleteLeased } from './statements/leave-shelf.ts'
import { insertNewQueued, insertQueued, updateQueued } from './statements/queued.ts'

export interface Moves {
  readonly driver: Pick<Driver, 'expectHeld' | 'takeHeld' | 'takeQueued'>
  readonly changes: Changes
  /** What was decided by without a look. */
  readonly trusted: readonly Holding[]
  readonly leases: SortedLeases
}

export function writeShelves(
  session: Session,
  tenantId: string,
  { driver, changes, leases, trusted }: Moves,
): Promise<unknown> {
  const { granted, renewed, lastWords, otherWords } = leases
  const { left, entered, kept } = sortByShelf(changes, granted)
  const { taken, others, staying } = sortByTrust(left.leased, trusted)
  return Promise.all([
    driver.expectHeld(session, tenantId, staying),
    driver.takeQueued(session, tenantId, left.queued),
    driver.takeHeld(session, tenantId, taken),
    deleteLeased(session, tenantId, others),
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

/** What leaves the shelf and was decided by without a look, or after one; and of the former, what stays. */
function sortByTrust(leaving: readonly Task[], trusted: readonly Holding[]) {
  const staying = new Map(trusted.map((holding) => [holding.task.definition.taskId, holding]))
  const taken: Holding[] = []
  const others: Task[] = []
  for (const task of leaving) {
    const holding = staying.get(task.definition.taskId)
    if (holding === undefined) others.push(task)
    else taken.push(holding)
    staying.delete(task.definition.taskId)
  }
  return { taken, others, staying: [...staying.values()] }
}

type Shelf = 'queued' | 'leased' | 'ended'

function shelfOf({ state: { status } }: Task): Shelf {
  if (status === 'queued') return 'queued'
  return isTerminal(status) ? 'ended' : 'leased'
}

function sortByShelf({ createdTasks, changedTasks }: Changes, granted: SortedLeases['granted']) {
  const left: Record<Shelf, Task[]> = { queued: [], leased: [], ended: [] }
  const entered: Record<Shelf, Task[]> = { queued: [], leased: [], ended: [] }
  const kept: Record<Shelf, Task[]> = { queued: [], leased: [], ended: [] }
  for (const task of createdTasks) entered[shelfOf(task)].push(task)
  for (const { before, after } of changedTasks) {
    const { taskId } = after.definition
    const [from, to] = [shelfOf(before), shelfOf(after)]
    if (from === 'ended') throw new Error(`Task ${taskId} has ended, and was changed.`)
    if (from === to && !granted.has(taskId)) {
      kept[to].push(after)
    } else {
      left[from].push(before)
      entered[to].push(after)
    }
  }
  return { left, entered, kept }
}
