// Loading: one unit's needs become a snapshot. What does not depend on an answer is sent without waiting for
// one.
//
// The order of locks is the same everywhere, so that instances do not deadlock: first what another has announced; then counted
// keys, workers and tenants; then tasks by id; from then on nothing waits: candidates skip what is locked, and their keys
// are only tried.
import { bestFirst } from '../../engine/matching.ts'
import type { Lease, Task } from '../../engine/model.ts'
import type { Candidates, ClaimNeed, Needs, Snapshot } from '../../engine/unit.ts'
import type { Positioned } from '../port.ts'
import type { Crowded } from './crowded.ts'
import { settledFromRow } from './ended-row.ts'
import { StoreFailure } from './failure.ts'
import type { Holding, Holdings } from './holdings.ts'
import { loadKeys } from './load-keys.ts'
import { lockTasks } from './lock-tasks.ts'
import { findDue, promote, PROMOTIONS_MAX } from './promote.ts'
import type { Driver, Offer, Transaction } from './session.ts'
import { settlements } from './statements/ended.ts'
import { activeByWorker, activeOfTenant } from './statements/leased.ts'
import { receiptsById, receiptsByKey } from './statements/ledger.ts'
import { obligationsOfTasks } from './statements/obligations.ts'
import { idempotentTasks, peekTasks } from './statements/tasks.ts'
import { readUsage } from './statements/usage.ts'
import { taskFromRow } from './task-row.ts'
import { uuids } from './uuid.ts'

export interface Loading {
  readonly driver: Driver
  readonly tx: Transaction
  readonly tenantId: string
  readonly now: number
  readonly needs: Needs
  /** Tenants known to use concurrency keys: only for theirs are the keys of tasks looked up before the tasks are locked. */
  readonly keyed: Set<string>
  readonly crowded: Crowded
  readonly holdings: Holdings
  /** What is held and decided by without a look: whoever writes checks it. */
  readonly trusted: readonly Holding[]
  readonly looksUpKeys: boolean
  /** This unit has not been tried before. */
  readonly isFirst: boolean
  /** How often a task was not found where it was looked for. From then on it is looked for everywhere. */
  readonly strays: Map<string, number>
  /** What this unit has moved to where claims look, also before it had to start again. */
  readonly promoted: Set<string>
}

/**
 * `null`: start again. A whole chunk of delayed tasks was due and has moved; or the first task with a key was met, whose
 * key must be locked before it; or a task had strayed; or there is something to lock after all.
 */
export async function load(loading: Loading): Promise<Snapshot | null> {
  const { driver, tx, tenantId, now, needs, keyed, isFirst, strays, promoted, holdings, trusted } = loading
  const { looksUpKeys } = loading
  const known = new Set(trusted.map(({ task }) => task.definition.taskId))
  const taskIds = uuids(needs.taskIds).filter((taskId) => !known.has(taskId))
  const claiming = needs.claims.length > 0
  const [
    ,
    ,
    locked,
    peeked,
    repeated,
    receipts,
    byKey,
    obligations,
    workers,
    ofTenant,
    due,
    first,
    activeTasks,
  ] = await Promise.all([
    claiming && needs.claimsOnly && isFirst ? driver.awaitAnnounced(tx, tenantId) : null,
    hold(loading, keyed.has(tenantId) ? taskIds : []),
    lockTasks(tx, tenantId, {
      taskIds,
      isHeld: (taskId) => needs.heldTaskIds.has(taskId) && !strays.has(taskId),
      trusted,
      holdings,
    }),
    peekTasks(tx, tenantId, uuids(needs.peekedTaskIds)),
    idempotentTasks(tx, tenantId, looksUpKeys ? [...needs.idempotencyHashes] : []),
    receiptsById(tx, tenantId, uuids(needs.receiptIds)),
    receiptsByKey(tx, tenantId, needs.receiptKeys),
    obligationsOfTasks(tx, tenantId, uuids(needs.obligationsOf)),
    activeByWorker(tx, tenantId, [...needs.countedWorkers]),
    needs.countTenantLeases ? activeOfTenant(tx, tenantId) : 0,
    claiming ? findDue(tx, tenantId, now) : [],
    selectAll(loading),
    countTasks(loading),
  ])
  if (locked.strays.length > 0) {
    noteStrays(strays, locked.strays)
    return null
  }
  if (tx.isOptimistic) {
    const isKeyed = first.some(({ tasks: found }) => found.some(hasKey))
    if (isKeyed) keyed.add(tenantId)
    if (isKeyed || due.length > 0) return null
  }
  const moved = new Set(due.map((row) => row.task_id))
  if (moved.size > 0) await promote(tx, tenantId, due)
  for (const taskId of moved) promoted.add(taskId)
  if (due.length === PROMOTIONS_MAX) return null
  if (!keyed.has(tenantId) && some(locked.tasks, hasKey)) {
    keyed.add(tenantId)
    return null
  }
  const selected = due.length > 0 ? await selectAll(loading) : first

  const tasks = new Map<string, Task>()
  const offered = selected.flatMap((offer) => offer.tasks)
  for (const row of [...peeked, ...repeated]) tasks.set(row.task_id, taskFromRow(row))
  for (const task of offered) tasks.set(task.definition.taskId, task)
  // These were read before the promotion of this same transaction.
  for (const [taskId, task] of locked.tasks) tasks.set(taskId, moved.has(taskId) ? madeReady(task) : task)
  const keys = await loadKeys(loading, {
    locked: [...locked.tasks.keys()].map((taskId) => tasks.get(taskId)!),
    offered,
    leases: locked.leases,
  })
  for (const task of keys.parkedTasks) tasks.set(task.definition.taskId, task)
  const evidence = await loadEvidence(loading, tasks, obligations)
  return {
    tasks,
    leases: await withSettled(loading, locked.leases),
    idempotent: new Map(repeated.map((row) => [row.idempotency_hash!, row.task_id])),
    knowsKeys: looksUpKeys,
    receipts: new Map([...receipts, ...evidence].map(({ receipt }) => [receipt.receiptId, receipt])),
    receiptsByKey: byKey,
    obligations: new Map(obligations.map((row) => [row.receipt_id, row.discharged_by])),
    candidates: new Map(
      needs.claims.map((claim, index) => {
        const offer = selected[index]!
        const found = ranked(claim, offer.tasks, keys.busy)
        return [claim.filterKey, { ...found, held: found.held || offer.held }]
      }),
    ),
    activeByKey: keys.activeByKey,
    activeByWorker: new Map(workers.map(({ name, active: count }) => [name, count])),
    activeOfTenant: ofTenant,
    typeLimits: keys.typeLimits,
    activeTasks,
    parked: keys.parked,
    promoted,
  }
}

/** However many move a task about, each look has a fair chance to find it. */
const LOOKS_MAX = 50

function noteStrays(strays: Map<string, number>, taskIds: readonly string[]): void {
  for (const taskId of taskIds) {
    const times = (strays.get(taskId) ?? 0) + 1
    strays.set(taskId, times)
    if (times > LOOKS_MAX) throw new StoreFailure('conflict', new Error(`task ${taskId} is not to be found`))
  }
}

function some<T>(map: ReadonlyMap<unknown, T>, is: (value: T) => boolean): boolean {
  for (const value of map.values()) if (is(value)) return true
  return false
}

function hasKey({ definition }: Task): boolean {
  return definition.concurrencyKey !== null
}

/** Its row lies elsewhere now. */
function madeReady({ definition, state }: Task): Task {
  return { definition, state: { ...state, place: 'ready' } }
}

/** Whoever names a lease that is not the task's own may be repeating what was said of an earlier one. */
async function withSettled(
  { tx, tenantId, needs }: Loading,
  leases: ReadonlyMap<string, Lease>,
): Promise<ReadonlyMap<string, Lease>> {
  const others = uuids(needs.leaseIds).filter((leaseId) => !leases.has(leaseId))
  const rows = await settlements(tx, tenantId, others)
  return rows.length === 0
    ? leases
    : new Map([...leases, ...rows.map((row) => [row.lease_id, settledFromRow(row)] as const)])
}

function hold({ driver, tx, tenantId, needs, crowded }: Loading, taskIds: readonly string[]): Promise<void> {
  return driver.holdCounts(tx, tenantId, {
    taskIds,
    concurrencyKeys: needs.concurrencyKeys,
    workers: needs.countedWorkers,
    tenant: needs.countTenantLeases || (needs.activeTasksMax !== null && crowded.has(tenantId)),
  })
}

async function countTasks({ tx, tenantId, needs, crowded }: Loading): Promise<number> {
  if (needs.activeTasksMax === null) return 0
  const { activeTasks } = await readUsage(tx, tenantId)
  crowded.saw(tenantId, activeTasks, needs.activeTasksMax)
  return activeTasks
}

function selectAll({ driver, tx, tenantId, needs }: Loading): Promise<Offer[]> {
  return Promise.all(needs.claims.map((claim) => driver.selectCandidates(tx, tenantId, claim)))
}

/** Best first. `busy` keys belong to another transaction just now. */
export function ranked(
  { filter, count }: ClaimNeed,
  tasks: readonly Task[],
  busy: ReadonlySet<string>,
): Required<Candidates> {
  const best = [...new Map(tasks.map(({ definition }) => [definition.taskId, definition])).values()]
    .toSorted(bestFirst(filter))
    .slice(0, count)
  const free = best.filter(({ concurrencyKey }) => !busy.has(concurrencyKey ?? ''))
  return {
    taskIds: free.map(({ taskId }) => taskId),
    // Not because of busy keys: asking again at once would only spin.
    more: best.length === count,
    held: best.length > 0 && free.length === 0,
  }
}

/** What an obligation's end and a task's end are proved by. */
async function loadEvidence(
  { tx, tenantId, needs }: Loading,
  tasks: ReadonlyMap<string, Task>,
  obligations: readonly { discharged_by: string | null }[],
): Promise<Positioned[]> {
  const terminal = [...needs.obligationsOf].map(
    (taskId) => tasks.get(taskId)?.state.terminalReceiptId ?? null,
  )
  const ids = [...terminal, ...obligations.map((row) => row.discharged_by)].filter((id) => id !== null)
  return receiptsById(tx, tenantId, ids)
}
