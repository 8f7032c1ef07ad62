// Writing: all changes of a batch as a handful of set-based statements. None waits for another's answer; the
// ledger comes last, since its lock keeps other transactions of the tenant from committing. Nothing here is async: what is thrown
// must be thrown before the commit is asked for.
import { type Changes, makesReady, tasksAfter } from '../../engine/unit.ts'
import { usageOf } from '../../engine/usage.ts'
import { definitionToRow } from './definition-row.ts'
import type { Lanes } from './lanes.ts'
import type { Driver, Session } from './session.ts'
import { insertTags, insertTasks } from './statements/tasks.ts'
import { insertDependencies, markDue, settleDependents } from './statements/dependencies.ts'
import { insertProgress, progressRow } from './statements/progress.ts'
import { meetPrincipal, seePrincipal } from './statements/principals.ts'
import { removeTimers, setTimers } from './statements/timers.ts'
import { foldSightings } from './sightings.ts'
import { sortLeases } from './sort-leases.ts'
import { writeLedger } from './write-ledger.ts'
import { type Moves, writeShelves } from './write-shelves.ts'

export interface Writing extends Omit<Moves, 'leases'> {
  readonly driver: Moves['driver'] & Pick<Driver, 'announce'>
  readonly lanes: Lanes
  readonly activeTasksMax: number | null
}

export function write(
  session: Session,
  tenantId: string,
  { driver, changes, lanes, trusted, activeTasksMax }: Writing,
): Promise<unknown> {
  const leases = sortLeases(changes)
  return Promise.all([
    isSoonReady(changes) ? driver.announce(session, tenantId) : null,
    writeTasks(session, tenantId, changes, lanes),
    writeShelves(session, tenantId, { driver, changes, leases, trusted }),
    writeProgress(session, tenantId, changes),
    writeTimers(session, tenantId, changes),
    writeDependencies(session, tenantId, changes),
    writeSightings(session, tenantId, changes),
    writeLedger(session, tenantId, {
      receipts: changes.receipts,
      ends: endsOf(changes),
      leases,
      usage: usageOf(changes),
      activeTasksMax,
    }),
  ])
}

/** Whoever was told of more would wait long for the end of it. */
const ANNOUNCED_TASKS_MAX = 20

function isSoonReady(changes: Changes): boolean {
  const { createdTasks, changedTasks } = changes
  return createdTasks.length + changedTasks.length <= ANNOUNCED_TASKS_MAX && makesReady(changes)
}

function endsOf(changes: Changes): Map<string, string> {
  const ends = new Map<string, string>()
  for (const { definition, state } of tasksAfter(changes)) {
    if (state.terminalReceiptId !== null) ends.set(state.terminalReceiptId, definition.assignedReceiptId)
  }
  return ends
}

function writeTasks(session: Session, tenantId: string, changes: Changes, lanes: Lanes): Promise<unknown> {
  // Sorted by key, so that two instances that insert the same keys wait for each other in one order.
  const created = changes.createdTasks.toSorted((a, b) =>
    (a.definition.idempotencyHash ?? '') < (b.definition.idempotencyHash ?? '') ? -1 : 1,
  )
  const tags = created.flatMap(({ definition }) =>
    [...new Set(definition.tags)].map((tag) => ({ tag, task_id: definition.taskId })),
  )
  return Promise.all([
    lanes.add(session, tenantId, created),
    insertTasks(
      session,
      tenantId,
      created.map((task) => definitionToRow(task.definition)),
    ),
    insertTags(session, tenantId, tags),
  ])
}

/** The next number is read from the table, so several reports of one task go one after the other. */
function writeProgress(session: Session, tenantId: string, { progress }: Changes): Promise<unknown> {
  const rounds: Map<string, (typeof progress)[number]>[] = []
  for (const report of progress) {
    const free = rounds.find((round) => !round.has(report.taskId))
    if (free === undefined) rounds.push(new Map([[report.taskId, report]]))
    else free.set(report.taskId, report)
  }
  return Promise.all(
    rounds.map((round) => insertProgress(session, tenantId, [...round.values()].map(progressRow))),
  )
}

function writeTimers(session: Session, tenantId: string, { timers, firedTimers }: Changes): Promise<unknown> {
  const last = new Map(timers.map((timer) => [`${timer.kind} ${timer.taskId}`, timer]))
  return Promise.all([
    setTimers(
      session,
      tenantId,
      [...last.values()].map(({ kind, taskId, dueAt }) => ({ kind, task_id: taskId, due_at: dueAt })),
    ),
    removeTimers(
      session,
      tenantId,
      firedTimers.map(({ kind, taskId }) => ({ kind, task_id: taskId })),
    ),
  ])
}

function writeDependencies(session: Session, tenantId: string, changes: Changes): Promise<unknown> {
  return Promise.all([
    insertDependencies(
      session,
      tenantId,
      changes.dependencies.map(({ taskId, dependsOn }) => ({ task_id: taskId, depends_on: dependsOn })),
    ),
    markDue(session, tenantId, changes.endedDependencies),
    settleDependents(session, tenantId, changes.settledDependents),
  ])
}

function writeSightings(session: Session, tenantId: string, { sightings }: Changes): Promise<unknown> {
  return Promise.all(
    foldSightings(sightings).flatMap((seen) => [
      seePrincipal(session, tenantId, seen),
      meetPrincipal(session, tenantId, seen),
    ]),
  )
}
