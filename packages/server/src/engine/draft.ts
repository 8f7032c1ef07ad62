// The working copy of a batch: what the snapshot held, overlaid with what the commands so far have changed.
import { discharges, isRepeatable, receiptKey } from './ledger.ts'
import type { Lease, ProgressReport, Receipt, Sighting, Task, TaskDefinition, Timer } from './model.ts'
import { isActive } from './model.ts'
import { typeOfKey } from './type-limit.ts'
import type { Candidates, Changes, Snapshot } from './unit.ts'
import { countOf } from './usage.ts'

const NO_CANDIDATES: Candidates = { taskIds: [], more: false, held: false }

/** What one decision changes; everything is optional but the reply. */
export interface Outcome {
  readonly reply: unknown
  readonly tasks?: readonly Task[]
  readonly leases?: readonly Lease[]
  readonly receipts?: readonly Receipt[]
  readonly progress?: readonly ProgressReport[]
  readonly timers?: readonly Timer[]
  readonly firedTimers?: readonly Pick<Timer, 'kind' | 'taskId'>[]
  readonly dependencies?: readonly { readonly taskId: string; readonly dependsOn: string }[]
  readonly endedDependencies?: readonly string[]
  readonly settledDependents?: readonly string[]
  readonly sightings?: readonly Sighting[]
}

/** What decisions read. */
export interface View {
  task(taskId: string): Task | undefined
  lease(leaseId: string): Lease | undefined
  activeLease(taskId: string): Lease | undefined
  idempotent(hash: string): Task | undefined
  receipt(receiptId: string): Receipt | undefined
  receiptByKey(key: string): Receipt | undefined
  /** undefined: no such obligation was loaded; null: open. */
  dischargedBy(receiptId: string): string | null | undefined
  candidates(filterKey: string): Candidates
  /** Tasks that this batch has created, and that are ready. */
  fresh(): Iterable<Task>
  activeByKey(key: string): number
  /** Of leases under the task's concurrency key. */
  limitOf(definition: TaskDefinition): number
  activeByWorker(workerId: string): number
  activeOfTenant(): number
  /** Tasks that have not ended, where creations are held to a quota. */
  activeTasks(): number
  /** In no order, and some may have left their place since. */
  parked(key: string): Iterable<string>
}

export interface Draft extends View {
  apply(outcome: Outcome): void
  changes(): Changes
}

/** The snapshot is read through, never copied: a batch may see thousands of tasks and change a few. */
export function createDraft(snapshot: Snapshot): Draft {
  const tasks = createOverlay(snapshot.tasks)
  const leases = createOverlay(snapshot.leases)
  const idempotent = createOverlay(snapshot.idempotent)
  const obligations = createOverlay<string | null>(snapshot.obligations)
  const activeByKey = createOverlay(snapshot.activeByKey)
  const activeByWorker = createOverlay(snapshot.activeByWorker)
  const parked = new Map(Array.from(snapshot.parked, ([key, taskIds]) => [key, new Set(taskIds)]))
  const added = emptyLists()
  const receipts = createReceiptIndex(snapshot, added.receipts)
  const fresh = new Map<string, Task>()
  let activeOfTenant = snapshot.activeOfTenant
  let activeTasks = snapshot.activeTasks
  let active: Map<string, Lease> | undefined // by task; made when somebody asks, which few commands do

  function putTask(task: Task): void {
    const { taskId, idempotencyHash, concurrencyKey } = task.definition
    const before = tasks.get(taskId)
    activeTasks += countOf(task) - (before === undefined ? 0 : countOf(before))
    tasks.set(taskId, task)
    if (idempotencyHash !== null) idempotent.set(idempotencyHash, taskId)
    if (concurrencyKey !== null && task.state.place === 'parked') park(concurrencyKey, taskId)
    if (task.state.place === 'ready' && !snapshot.tasks.has(taskId)) fresh.set(taskId, task)
    else fresh.delete(taskId)
  }

  /** Also what this batch parks: a later command of it may free the slot. */
  function park(key: string, taskId: string): void {
    parked.set(key, (parked.get(key) ?? new Set()).add(taskId))
  }

  function putLease(lease: Lease): void {
    const before = leases.get(lease.leaseId)
    leases.set(lease.leaseId, lease)
    const step = Number(isActive(lease)) - Number(before !== undefined && isActive(before))
    if (active !== undefined) noteActive(active, lease)
    if (step !== 0) count(lease, step)
  }

  function count(lease: Lease, step: number): void {
    activeOfTenant += step
    bump(activeByWorker, lease.worker.id, step)
    if (lease.concurrencyKey !== null) bump(activeByKey, lease.concurrencyKey, step)
  }

  function discharge(receipt: Receipt): void {
    // The obligations of a draft are those of tasks.
    if (!discharges(receipt.receiptType, 'task.assigned')) return
    for (const parent of receipt.parents) {
      if (obligations.get(parent) === null) obligations.set(parent, receipt.receiptId)
    }
  }

  function activeLeases(): Map<string, Lease> {
    if (active !== undefined) return active
    active = new Map()
    for (const lease of snapshot.leases.values()) noteActive(active, leases.get(lease.leaseId)!)
    for (const lease of leases.changed()) noteActive(active, lease)
    return active
  }

  return {
    task: tasks.get,
    lease: leases.get,
    activeLease: (taskId) => activeLeases().get(taskId),
    idempotent: (hash) => {
      const taskId = idempotent.get(hash)
      return taskId === undefined ? undefined : tasks.get(taskId)
    },
    receipt: receipts.byId,
    receiptByKey: receipts.byKey,
    dischargedBy: obligations.get,
    candidates: (filterKey) => snapshot.candidates.get(filterKey) ?? NO_CANDIDATES,
    fresh: () => fresh.values(),
    activeByKey: (key) => activeByKey.get(key) ?? 0,
    limitOf: ({ concurrencyKey: key, concurrencyLimit }) =>
      (typeOfKey(key) === null ? concurrencyLimit : snapshot.typeLimits.get(key ?? '')) ?? Infinity,
    activeByWorker: (workerId) => activeByWorker.get(workerId) ?? 0,
    activeOfTenant: () => activeOfTenant,
    activeTasks: () => activeTasks,
    parked: (key) => parked.get(key) ?? [],
    apply: (outcome) => {
      for (const task of outcome.tasks ?? NOTHING) putTask(task)
      for (const lease of outcome.leases ?? NOTHING) putLease(lease)
      for (const receipt of outcome.receipts ?? NOTHING) discharge(receipt)
      append(added, outcome)
    },
    changes: () => ({
      ...taskChanges(snapshot, tasks.changed()),
      ...leaseChanges(snapshot, leases.changed()),
      ...added,
    }),
  }
}

const NOTHING: readonly never[] = []

interface Overlay<T> {
  get(key: string): T | undefined
  set(key: string, value: T): void
  /** In the order in which each was changed first. */
  changed(): Iterable<T>
}

function createOverlay<T>(under: ReadonlyMap<string, T>): Overlay<T> {
  const over = new Map<string, T>()
  return {
    get: (key) => {
      const changed = over.get(key)
      return changed === undefined ? under.get(key) : changed
    },
    set: (key, value) => over.set(key, value),
    changed: () => over.values(),
  }
}

function bump(counts: Overlay<number>, key: string, step: number): void {
  counts.set(key, (counts.get(key) ?? 0) + step)
}

function noteActive(active: Map<string, Lease>, lease: Lease): void {
  if (isActive(lease)) active.set(lease.taskId, lease)
  else if (active.get(lease.taskId)?.leaseId === lease.leaseId) active.delete(lease.taskId)
}

/** The batch's own receipts are indexed when somebody asks, which few commands do and every command adds some. */
function createReceiptIndex(snapshot: Snapshot, added: readonly Receipt[]) {
  const ids = new Map<string, Receipt>()
  const keys = new Map<string, Receipt>()
  let indexed = 0
  function catchUp(): void {
    for (; indexed < added.length; indexed += 1) {
      const receipt = added[indexed]!
      ids.set(receipt.receiptId, receipt)
      if (isRepeatable(receipt.receiptType)) keys.set(receiptKey(receipt, receipt.hash), receipt)
    }
  }
  return {
    byId: (receiptId: string) => {
      catchUp()
      return ids.get(receiptId) ?? snapshot.receipts.get(receiptId)
    },
    byKey: (key: string) => {
      catchUp()
      return keys.get(key) ?? snapshot.receiptsByKey.get(key)
    },
  }
}

type Lists = {
  -readonly [K in Exclude<keyof Outcome, 'reply' | 'tasks' | 'leases'>]-?: NonNullable<Outcome[K]>[number][]
}

function emptyLists(): Lists {
  return {
    receipts: [],
    progress: [],
    timers: [],
    firedTimers: [],
    dependencies: [],
    endedDependencies: [],
    settledDependents: [],
    sightings: [],
  }
}

function append(lists: Lists, outcome: Outcome): void {
  for (const receipt of outcome.receipts ?? NOTHING) lists.receipts.push(receipt)
  for (const report of outcome.progress ?? NOTHING) lists.progress.push(report)
  for (const timer of outcome.timers ?? NOTHING) lists.timers.push(timer)
  for (const timer of outcome.firedTimers ?? NOTHING) lists.firedTimers.push(timer)
  for (const dependency of outcome.dependencies ?? NOTHING) lists.dependencies.push(dependency)
  for (const taskId of outcome.endedDependencies ?? NOTHING) lists.endedDependencies.push(taskId)
  for (const taskId of outcome.settledDependents ?? NOTHING) lists.settledDependents.push(taskId)
  for (const sighting of outcome.sightings ?? NOTHING) lists.sightings.push(sighting)
}

function taskChanges(snapshot: Snapshot, changed: Iterable<Task>) {
  const createdTasks: Task[] = []
  const changedTasks: { before: Task; after: Task }[] = []
  for (const after of changed) {
    const before = snapshot.tasks.get(after.definition.taskId)
    if (before === undefined) createdTasks.push(after)
    else changedTasks.push({ before, after })
  }
  return { createdTasks, changedTasks }
}

function leaseChanges(snapshot: Snapshot, changed: Iterable<Lease>) {
  const grantedLeases: Lease[] = []
  const changedLeases: Lease[] = []
  for (const lease of changed) {
    if (snapshot.leases.has(lease.leaseId)) changedLeases.push(lease)
    else grantedLeases.push(lease)
  }
  return { grantedLeases, changedLeases }
}
