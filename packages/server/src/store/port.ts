// The port between the engine and what remembers. One interface, three implementations, one conformance suite.
import type {
  Lease,
  Principal,
  ProgressReport,
  Receipt,
  Relationship,
  Task,
  TaskStatus,
} from '../engine/model.ts'
import type { Hint, Transactor, Unit } from '../engine/unit.ts'
import type { Usage } from '../engine/usage.ts'
import type { AccountStore } from './accounts.ts'
import type { AuditStore } from './audit.ts'
import type { ClientStore } from './clients.ts'
import type { KeyStore } from './keys.ts'
import type { OAuthStore } from './oauth.ts'
import type { ResultStore } from './results.ts'
import type { TaskTypeStore } from './task-types.ts'
import type { TenantStore } from './tenants.ts'
import type { TokenStore } from './tokens.ts'

export interface Store
  extends Transactor,
    KeyStore,
    TenantStore,
    TaskTypeStore,
    AccountStore,
    ClientStore,
    OAuthStore,
    AuditStore,
    ResultStore {
  readonly kind: 'memory' | 'sqlite' | 'postgres'
  /** How many transactions of a tenant are worth having at once: one, where there is one writer at a time. */
  readonly commitsAtOnce: number
  /** Where several instances can share the store. */
  readonly tokens?: TokenStore

  /**
   * One durable transaction: loads what `needs` names (tasks locked, in id order; delayed tasks that are due by `now`
   * are made ready before claims look), lets `decide` choose, writes its changes, commits. When the promise resolves,
   * the commit has been flushed. `decide` is called after the locks are held; it may be called again when the transaction
   * had to be rolled back (deadlock, unique key lost to another instance), never after a commit was sent.
   * Rejects with `database_unavailable` when the outcome is unknown or the database cannot be reached.
   */
  transact<T>(unit: Unit<T>): Promise<T>

  readTask(tenantId: string, taskId: string): Promise<TaskView | null>
  listTasks(query: TaskQuery): Promise<readonly TaskView[]>
  listProgress(query: {
    tenantId: string
    taskId: string
    after: number | null
    limit: number
  }): Promise<readonly Numbered<ProgressReport>[]>
  readReceipt(tenantId: string, receiptId: string): Promise<Positioned | null>
  readReceipts(tenantId: string, receiptIds: readonly string[]): Promise<readonly Positioned[]>
  listReceipts(query: ReceiptQuery): Promise<readonly Positioned[]>
  /** Open obligations addressed to a principal, in ledger order. */
  openObligations(query: {
    tenantId: string
    principal: Principal
    after: number | null
    limit: number
  }): Promise<readonly Positioned[]>
  /** undefined: that receipt opened no obligation; null: it is open. */
  dischargedBy(tenantId: string, receiptId: string): Promise<string | null | undefined>
  readRelationship(tenantId: string, principal: Principal): Promise<Relationship | null>
  /** How many leases are active under a concurrency key, or (null) in the whole tenant: for `explain_task`. */
  countActive(tenantId: string, concurrencyKey: string | null): Promise<number>

  /** What services look for; each is checked again under the lock, so that several instances may look at once. */
  dueLeases(
    now: number,
    limit: number,
    /** Those that were to be checked by then are left out. */
    after?: number,
  ): Promise<readonly { tenantId: string; taskId: string; leaseId: string }[]>
  dueTimers(
    now: number,
    limit: number,
  ): Promise<readonly { tenantId: string; taskId: string; kind: 'deadline' | 'unlinkable' }[]>
  dueDependents(limit: number): Promise<readonly Dependent[]>
  dependentsOf(tenantId: string, taskIds: readonly string[]): Promise<readonly Dependent[]>
  /** When the next delayed task of the tenant becomes eligible. */
  nextEligibleAt(tenantId: string): Promise<number | null>

  readUsage(tenantId: string): Promise<Usage>
  stats(now: number): Promise<Stats>
  /** Compares the index of obligations with the receipts themselves: the ids that disagree. */
  findDoubtfulObligations(limit: number): Promise<readonly string[]>
  /** No other instance makes anything ready, as far as is known. */
  isAlone(): boolean
  /** Tells other instances of a commit. Only a hint; never needed for correctness. */
  hint(hint: Hint): void
  onHint(listener: (hint: Hint) => void): () => void

  migrate(): Promise<readonly string[]>
  pendingMigrations(): Promise<readonly string[]>
  /** What would let this program past the database's own wall between tenants; a store without one has none. */
  findBreaches(): Promise<readonly Breach[]>
  /** The database's own clock, where it is another machine's; null where it is ours. */
  readClock(): Promise<number | null>
  /** Throws `database_unavailable` unless the database answers. */
  ping(): Promise<void>
  durability(): Promise<{ readonly level: 'full' | 'reduced' | 'none'; readonly detail: string }>
  close(): Promise<void>
}

/** `role`: of the connection, and known before there is a schema; `table`: of the schema. */
export interface Breach {
  readonly of: 'role' | 'table'
  readonly problem: string
  readonly remedy: string
}

export type { Hint }

/** A task as readers see it. */
export interface TaskView extends Task {
  readonly lease: Lease | null
  readonly progress: unknown
}

export interface Dependent {
  readonly tenantId: string
  readonly taskId: string
  readonly dependsOn: readonly string[]
}

/** A receipt with its place in the tenant's ledger: gap-free, in commit order. */
export interface Positioned {
  readonly position: number
  readonly receipt: Receipt
}

export type Numbered<T> = T & { readonly position: number }

/** Newest first; `before` is the task id of the last row of the page before. */
export interface TaskQuery {
  readonly tenantId: string
  readonly status: TaskStatus | null
  readonly type: string | null
  readonly createdBy: { readonly kind: Principal['kind'] | null; readonly id: string } | null
  /** Only tasks that this principal owns or is owed. */
  readonly concerning: Principal | null
  readonly deadLetter: boolean | null
  readonly tag: string | null
  readonly createdFrom: number | null
  readonly createdBefore: number | null
  readonly before: string | null
  readonly limit: number
}

/** Oldest first, by position. */
export interface ReceiptQuery {
  readonly tenantId: string
  readonly to: { readonly kind: Principal['kind'] | null; readonly id: string | null }
  readonly from: { readonly kind: Principal['kind'] | null; readonly id: string | null }
  /** Only receipts from or to this principal. */
  readonly concerning: Principal | null
  readonly taskId: string | null
  readonly receiptType: string | null
  readonly after: number | null
  readonly limit: number
}

export interface Stats {
  readonly byStatus: Readonly<Record<TaskStatus, number>>
  readonly ready: number
  readonly delayed: number
  readonly activeLeases: number
  readonly workers: number
  readonly oldestReadyAt: number | null
  readonly openObligations: number
}
