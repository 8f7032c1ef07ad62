// The domain's nouns as the engine sees them: immutable values, epoch milliseconds, camelCase.

export type PrincipalKind = 'agent' | 'worker' | 'service' | 'human' | 'system'

export interface Principal {
  readonly kind: PrincipalKind
  readonly id: string
}

export const SYSTEM: Principal = { kind: 'system', id: 'asyncgate' }

export function samePrincipal(a: Principal, b: Principal): boolean {
  return a.kind === b.kind && a.id === b.id
}

export type TerminalStatus = 'succeeded' | 'failed' | 'canceled'
export type TaskStatus = 'queued' | 'leased' | 'running' | TerminalStatus

/**
 * Where a task stands with respect to claims. Only `ready` tasks are looked at by a claim, so that its cost does not
 * depend on the others: `delayed` wait for a time, `parked` for room under their concurrency key, `waiting` for
 * dependencies, and `none` are leased or have ended.
 */
export type Place = 'ready' | 'delayed' | 'parked' | 'waiting' | 'none'

export type Json = unknown
export type JsonObject = Readonly<Record<string, unknown>>

/** What was asked for. Written once. */
export interface TaskDefinition {
  readonly taskId: string
  readonly type: string
  readonly payload: JsonObject
  readonly payloadPointer: string | null
  readonly summary: string | null
  readonly createdBy: Principal
  readonly recipient: Principal
  readonly capabilities: readonly string[]
  readonly tags: readonly string[]
  /** The set of required capabilities as one string: tasks of one lane are open to the same workers. */
  readonly lane: string
  readonly priority: number
  readonly maxAttempts: number
  readonly retryBackoffSeconds: number
  readonly maxExpiries: number
  readonly idempotencyKey: string | null
  /** Hash of owner and key: unique within the tenant, and short enough for any index. */
  readonly idempotencyHash: string | null
  /** Hash of the request, kept to tell a repetition from a conflict. */
  readonly requestHash: string | null
  readonly parentTaskId: string | null
  readonly causedByReceiptId: string | null
  readonly concurrencyKey: string | null
  readonly concurrencyLimit: number | null
  readonly timeoutSeconds: number | null
  readonly deadlineAt: number | null
  readonly dependsOn: readonly string[]
  readonly onDependencyFailure: 'cancel' | 'run'
  readonly expectedOutcomeKind: string | null
  readonly expectedArtifactMime: string | null
  readonly successCriteria: Json
  readonly resultDelivery: Json
  readonly metadata: JsonObject
  readonly createdAt: number
  readonly assignedReceiptId: string
  readonly instance: string
}

export interface TaskResult {
  readonly outcome: TerminalStatus
  readonly result: Json
  readonly error: Json
  readonly artifacts: readonly JsonObject[]
  readonly deliveryProof: JsonObject | null
  readonly completedAt: number
}

/** What became of it so far. */
export interface TaskState {
  readonly status: TaskStatus
  readonly place: Place
  readonly attempt: number
  readonly expiries: number
  readonly fence: number
  readonly nextEligibleAt: number
  readonly updatedAt: number
  readonly startedAt: number | null
  readonly completedAt: number | null
  readonly deadLetter: boolean
  readonly hasDependents: boolean
  readonly terminalReceiptId: string | null
  readonly result: TaskResult | null
}

export interface Task {
  readonly definition: TaskDefinition
  readonly state: TaskState
}

export type LeaseEnd = 'completed' | 'failed' | 'released' | 'expired' | 'timed_out' | 'canceled' | 'deadline'

/** A worker's own last word on a lease, kept so that repeating it returns the first answer. */
export interface Settlement {
  readonly action: 'complete' | 'fail' | 'release'
  readonly requestHash: string
  readonly reply: JsonObject
  readonly receiptId: string | null
}

export interface Lease {
  readonly leaseId: string
  readonly taskId: string
  readonly worker: Principal
  readonly fence: number
  readonly grantedAt: number
  readonly ttlMs: number
  readonly expiresAt: number
  /** End of this execution by the task's own timeout, whatever the renewals. */
  readonly timeoutAt: number | null
  /** When the sweep must look at it again; never later than needed, moved lazily so that renewals touch no index. */
  readonly checkAt: number
  readonly renewals: number
  readonly concurrencyKey: string | null
  readonly endedAt: number | null
  readonly end: LeaseEnd | null
  readonly settlement: Settlement | null
}

export interface Receipt {
  readonly receiptId: string
  readonly tenantId: string
  readonly receiptType: string
  readonly createdAt: number
  readonly from: Principal
  readonly to: Principal
  readonly taskId: string | null
  readonly leaseId: string | null
  readonly scheduleId: string | null
  readonly parents: readonly string[]
  readonly body: JsonObject
  /** Size of the body as JSON. */
  readonly bodyBytes: number
  readonly hash: string
  readonly instance: string
}

export interface ProgressReport {
  readonly taskId: string
  readonly workerId: string
  readonly fence: number
  readonly reportedAt: number
  readonly progress: Json
}

/** A moment at which the engine must look at a task again. */
export interface Timer {
  readonly kind: 'deadline' | 'unlinkable'
  readonly taskId: string
  readonly dueAt: number
}

/** A principal was seen: the relationship that `open_obligations` reports. */
export interface Sighting {
  readonly principal: Principal
  readonly instanceId: string | null
  readonly at: number
}

export interface Relationship {
  readonly principal: Principal
  readonly firstSeenAt: number
  readonly lastSeenAt: number
  readonly sessionsCount: number
}

export function isTerminal(status: TaskStatus): status is TerminalStatus {
  return status === 'succeeded' || status === 'failed' || status === 'canceled'
}

export function isActive(lease: Lease): boolean {
  return lease.endedAt === null
}

/** A lease that has passed its end is dead even before the sweep has seen it. */
export function isAlive(lease: Lease, now: number): boolean {
  return isActive(lease) && now < lease.expiresAt && (lease.timeoutAt === null || now < lease.timeoutAt)
}
