// The working copy of a batch: what the snapshot held, overlaid with what the commands so far have changed.
import { discharges } from './ledger.ts'
import type { Lease, ProgressReport, Receipt, Sighting, Task, Timer } from './model.ts'
import { isActive } from './model.ts'
import type { Candidates, Changes, Snapshot } from './unit.ts'

const NO_CANDIDATES: Candidates = { taskIds: [], more: false }

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
  activeByKey(key: string): number
  activeByWorker(workerId: string): number
  activeOfTenant(): number
  /** In no order, and some may have left their place since. */
  parked(key: string): Iterable<string>
}

export interface Draft extends View {
  apply(outcome: Outcome): void
  changes(): Changes
}

export function createDraft(snapshot: Snapshot): Draft {
  const tasks = new Map(snapshot.tasks)
  const leases = new Map(snapshot.leases)
  const active = new Map<string, Lease>()
  const receipts = new Map(snapshot.receipts)
  const receiptsByKey = new Map(snapshot.receiptsByKey)
  const idempotent = new Map(snapshot.idempotent)
  const obligations = new Map(snapshot.obligations)
  const counts = {
    key: new Map(snapshot.activeByKey),
    worker: new Map(snapshot.activeByWorker),
    tenant: snapshot.activeOfTenant,
  }
  const added: Outcome[] = []
  const touchedTasks = new Set<string>()
  const touchedLeases = new Set<string>()
  const parked = new Map([...snapshot.parked].map(([key, taskIds]) => [key, new Set(taskIds)]))
  for (const lease of leases.values()) if (isActive(lease)) active.set(lease.taskId, lease)

  function putTask(task: Task): void {
    const { taskId, idempotencyHash, concurrencyKey } = task.definition
    tasks.set(taskId, task)
    touchedTasks.add(taskId)
    if (idempotencyHash !== null) idempotent.set(idempotencyHash, taskId)
    if (concurrencyKey !== null && task.state.place === 'parked') park(concurrencyKey, taskId)
  }

  /** Also what this batch parks: a later command of it may free the slot. */
  function park(key: string, taskId: string): void {
    parked.set(key, (parked.get(key) ?? new Set()).add(taskId))
  }

  function putLease(lease: Lease): void {
    const before = leases.get(lease.leaseId)
    leases.set(lease.leaseId, lease)
    touchedLeases.add(lease.leaseId)
    const step = Number(isActive(lease)) - Number(before !== undefined && isActive(before))
    if (isActive(lease)) active.set(lease.taskId, lease)
    else if (active.get(lease.taskId)?.leaseId === lease.leaseId) active.delete(lease.taskId)
    if (step !== 0) count(lease, step)
  }

  function count(lease: Lease, step: number): void {
    counts.tenant += step
    bump(counts.worker, lease.worker.id, step)
    if (lease.concurrencyKey !== null) bump(counts.key, lease.concurrencyKey, step)
  }

  function putReceipt(receipt: Receipt): void {
    receipts.set(receipt.receiptId, receipt)
    receiptsByKey.set(receipt.receiptKey, receipt)
    // The obligations of a draft are those of tasks.
    if (!discharges(receipt.receiptType, 'task.assigned')) return
    for (const parent of receipt.parents) {
      if (obligations.get(parent) === null) obligations.set(parent, receipt.receiptId)
    }
  }

  return {
    task: (taskId) => tasks.get(taskId),
    lease: (leaseId) => leases.get(leaseId),
    activeLease: (taskId) => active.get(taskId),
    idempotent: (hash) => {
      const taskId = idempotent.get(hash)
      return taskId === undefined ? undefined : tasks.get(taskId)
    },
    receipt: (receiptId) => receipts.get(receiptId),
    receiptByKey: (key) => receiptsByKey.get(key),
    dischargedBy: (receiptId) => obligations.get(receiptId),
    candidates: (filterKey) => snapshot.candidates.get(filterKey) ?? NO_CANDIDATES,
    activeByKey: (key) => counts.key.get(key) ?? 0,
    activeByWorker: (workerId) => counts.worker.get(workerId) ?? 0,
    activeOfTenant: () => counts.tenant,
    parked: (key) => parked.get(key) ?? [],
    apply: (outcome) => {
      for (const task of outcome.tasks ?? []) putTask(task)
      for (const lease of outcome.leases ?? []) putLease(lease)
      for (const receipt of outcome.receipts ?? []) putReceipt(receipt)
      added.push(outcome)
    },
    changes: () => ({
      ...taskChanges(snapshot, tasks, touchedTasks),
      ...leaseChanges(snapshot, leases, touchedLeases),
      receipts: added.flatMap((outcome) => outcome.receipts ?? []),
      progress: added.flatMap((outcome) => outcome.progress ?? []),
      timers: added.flatMap((outcome) => outcome.timers ?? []),
      firedTimers: added.flatMap((outcome) => outcome.firedTimers ?? []),
      dependencies: added.flatMap((outcome) => outcome.dependencies ?? []),
      endedDependencies: added.flatMap((outcome) => outcome.endedDependencies ?? []),
      settledDependents: added.flatMap((outcome) => outcome.settledDependents ?? []),
      sightings: added.flatMap((outcome) => outcome.sightings ?? []),
    }),
  }
}

function bump(counts: Map<string, number>, key: string, step: number): void {
  counts.set(key, (counts.get(key) ?? 0) + step)
}

function taskChanges(snapshot: Snapshot, tasks: ReadonlyMap<string, Task>, touched: ReadonlySet<string>) {
  const createdTasks: Task[] = []
  const changedTasks: { before: Task; after: Task }[] = []
  for (const taskId of touched) {
    const before = snapshot.tasks.get(taskId)
    const after = tasks.get(taskId)!
    if (before === undefined) createdTasks.push(after)
    else changedTasks.push({ before, after })
  }
  return { createdTasks, changedTasks }
}

function leaseChanges(snapshot: Snapshot, leases: ReadonlyMap<string, Lease>, touched: ReadonlySet<string>) {
  const all = [...touched].map((leaseId) => leases.get(leaseId)!)
  return {
    grantedLeases: all.filter((lease) => !snapshot.leases.has(lease.leaseId)),
    changedLeases: all.filter((lease) => snapshot.leases.has(lease.leaseId)),
  }
}
