// One unit of work between engine and store: what a batch needs to see, what it saw, and what it changes.
import type { ClaimFilter } from './command.ts'
import type { Lease, ProgressReport, Receipt, Sighting, Task, Timer } from './model.ts'

/** What a batch of commands must have loaded. Tasks are locked, with their active leases; the rest is evidence. */
export interface Needs {
  /** How many of them there are. */
  readonly commands: number
  readonly taskIds: ReadonlySet<string>
  /** Those of them that somebody claims to hold. */
  readonly heldTaskIds: ReadonlySet<string>
  /** Read without a lock: a dependency's end is final, and its beginning does not matter. */
  readonly peekedTaskIds: ReadonlySet<string>
  /** Leases that commands name: active, or settled and perhaps reported again. */
  readonly leaseIds: ReadonlySet<string>
  readonly idempotencyHashes: ReadonlySet<string>
  readonly receiptIds: ReadonlySet<string>
  readonly receiptKeys: ReadonlySet<string>
  /** Tasks whose obligation must be known to be open or not. */
  readonly obligationsOf: ReadonlySet<string>
  /** Concurrency keys of tasks to be created; those of loaded tasks count as needed anyway. */
  readonly concurrencyKeys: ReadonlySet<string>
  readonly claims: readonly ClaimNeed[]
  /** There is nothing else: they may wait a moment for what is about to be ready. */
  readonly claimsOnly: boolean
  /** Workers that declared a capacity: their active leases are counted, under a lock. */
  readonly countedWorkers: ReadonlySet<string>
  readonly countTenantLeases: boolean
  /** The quota that creations are held to; null: none, or nothing is created. */
  readonly activeTasksMax: number | null
}

/** Claims with the same filter are served by one selection. */
export interface ClaimNeed {
  readonly filterKey: string
  readonly filter: ClaimFilter
  readonly count: number
}

export interface Snapshot {
  readonly tasks: ReadonlyMap<string, Task>
  /** The active leases of the tasks, and of those asked for by their ids the settled ones. */
  readonly leases: ReadonlyMap<string, Lease>
  /** idempotencyHash → taskId; the task is loaded too. */
  readonly idempotent: ReadonlyMap<string, string>
  /** Whether keys were looked up. If not they are taken for new, which nearly all are; the store refuses to write one twice. */
  readonly knowsKeys: boolean
  readonly receipts: ReadonlyMap<string, Receipt>
  readonly receiptsByKey: ReadonlyMap<string, Receipt>
  /** assigned receipt id → the receipt that discharged it, or null while it is open. */
  readonly obligations: ReadonlyMap<string, string | null>
  /** filterKey → tasks that fit, best first; `more` when the store stopped at the count asked for. */
  readonly candidates: ReadonlyMap<string, Candidates>
  readonly activeByKey: ReadonlyMap<string, number>
  readonly activeByWorker: ReadonlyMap<string, number>
  readonly activeOfTenant: number
  /** concurrency key of a type → its limit as it is now, where it has one. */
  readonly typeLimits: ReadonlyMap<string, number>
  /** Tasks that have not ended; 0 where `activeTasksMax` is null. */
  readonly activeTasks: number
  /** concurrency key → parked tasks that could come next, best first within each lane and type. */
  readonly parked: ReadonlyMap<string, readonly string[]>
  /** Delayed tasks whose time has come: they are ready, unless the batch changes them. */
  readonly promoted: ReadonlySet<string>
}

export interface Candidates {
  readonly taskIds: readonly string[]
  readonly more: boolean
  /** Nothing was free, but other transactions hold tasks that fit: they may let go of them in a moment. */
  readonly held?: boolean
}

/** Everything that one commit writes. `before` lets a store find the row's old place. */
export interface Changes {
  readonly createdTasks: readonly Task[]
  readonly changedTasks: readonly { readonly before: Task; readonly after: Task }[]
  readonly grantedLeases: readonly Lease[]
  readonly changedLeases: readonly Lease[]
  readonly receipts: readonly Receipt[]
  readonly progress: readonly ProgressReport[]
  readonly timers: readonly Timer[]
  readonly firedTimers: readonly Pick<Timer, 'kind' | 'taskId'>[]
  readonly dependencies: readonly { readonly taskId: string; readonly dependsOn: string }[]
  /** Tasks that ended and have dependents: those become due for a look. */
  readonly endedDependencies: readonly string[]
  /** Dependents that no longer wait for anything. */
  readonly settledDependents: readonly string[]
  readonly sightings: readonly Sighting[]
}

/** What other instances hear of a commit, of a tenant's tasks: that there are some now, or will be, or that some ended. */
export interface Hint {
  readonly tenantId: string
  readonly ready: boolean
  readonly delayed: boolean
  readonly ended: boolean
}

export interface Decision<T> {
  readonly changes: Changes
  readonly result: T
  /** Decide again with keys looked up, and write none of this. */
  readonly mustKnowKeys?: boolean
}

/** What the engine asks of a store: one durable transaction around a decision. See store/port.ts. */
export interface Unit<T> {
  readonly tenantId: string
  readonly now: number
  readonly needs: Needs
  readonly decide: (snapshot: Snapshot) => Decision<T>
}

export interface Transactor {
  transact<T>(unit: Unit<T>): Promise<T>
}

/** The tasks as they are once the changes are committed. */
export function tasksAfter({ createdTasks, changedTasks }: Changes): Task[] {
  return [...createdTasks, ...changedTasks.map(({ after }) => after)]
}

export function makesReady(changes: Changes): boolean {
  return tasksAfter(changes).some(({ state }) => state.place === 'ready')
}

export function isEmpty(changes: Changes): boolean {
  return Object.values(changes).every((list: readonly unknown[]) => list.length === 0)
}
