// Commands: everything that can be asked of the engine, as values.
import type { GateError } from '@asyncgate/sdk'
import type { Json, JsonObject, Principal } from './model.ts'

/** Who asks; `sees` limits it to tasks that it owns, receives or holds, unless it is an administrator. */
export interface Actor {
  readonly principal: Principal
  readonly sees: 'all' | 'own'
}

export interface NewTask {
  readonly type: string
  readonly payload: JsonObject
  readonly payloadPointer: string | null
  readonly summary: string | null
  readonly createdBy: Principal
  readonly recipient: Principal
  readonly capabilities: readonly string[]
  readonly tags: readonly string[]
  readonly priority: number | null
  readonly maxAttempts: number | null
  readonly retryBackoffSeconds: number | null
  readonly maxExpiries: number | null
  readonly idempotencyKey: string | null
  readonly parentTaskId: string | null
  readonly causedByReceiptId: string | null
  readonly concurrencyKey: string | null
  readonly concurrencyLimit: number | null
  readonly timeoutSeconds: number | null
  readonly deadlineAt: number | null
  readonly delaySeconds: number | null
  readonly notBefore: number | null
  readonly dependsOn: readonly string[]
  readonly onDependencyFailure: 'cancel' | 'run'
  readonly expectedOutcomeKind: string | null
  readonly expectedArtifactMime: string | null
  readonly successCriteria: Json
  readonly resultDelivery: Json
  readonly metadata: JsonObject
}

/** What the registered type of a task says about it; `null` where it says nothing. */
export interface TypeRules {
  /** Why it may not be created. A repetition of what was created before is answered all the same. */
  readonly refusal: GateError | null
  readonly priority: number | null
  readonly maxAttempts: number | null
  readonly timeoutSeconds: number | null
  /** Where its result goes, unless the task or the worker says otherwise. */
  readonly resultChannel: string | null
  /** Under which the leases of its type are counted together, where they are. */
  readonly concurrencyKey: string | null
}

export interface Holding {
  readonly worker: Principal
  readonly taskId: string
  readonly leaseId: string
}

export interface ClaimFilter {
  /** Lower-cased and sorted. */
  readonly capabilities: readonly string[]
  /** `null` = any. */
  readonly acceptTypes: readonly string[] | null
  readonly preferredTypes: readonly string[]
}

export interface ClaimCommand {
  readonly kind: 'claim'
  readonly worker: Principal
  readonly filter: ClaimFilter
  readonly maxTasks: number
  /** Candidates to look at beyond those asked for. */
  readonly spare?: number
  /** Nothing is ready for it, as far as is known here: it is given what its own commit creates. */
  readonly freshOnly?: boolean
  readonly ttlSeconds: number | null
  readonly capacity: number | null
}

export type LeaseCommand =
  | ({ readonly kind: 'start' } & Holding)
  | ({ readonly kind: 'progress'; readonly progress: JsonObject } & Holding)
  | ({ readonly kind: 'renew'; readonly extendBySeconds: number | null } & Holding)
  | ({ readonly kind: 'release'; readonly reason: string | null } & Holding)
  | CompleteCommand
  | FailCommand

export interface CompleteCommand extends Holding {
  readonly kind: 'complete'
  /** Size of the result as JSON, where it is known. */
  readonly bytes?: number
  readonly result: Json
  readonly resultSummary: string | null
  readonly artifacts: readonly JsonObject[]
  readonly deliveryProof: JsonObject | null
  readonly storeResult: boolean
  readonly completionMetadata: JsonObject | null
}

export interface FailCommand extends Holding {
  readonly kind: 'fail'
  readonly error: JsonObject
  readonly retryable: boolean
  readonly retryAfterSeconds: number | null
}

export interface AttachCommand {
  readonly kind: 'attach'
  readonly actor: Actor
  readonly taskId: string
  readonly artifacts: readonly JsonObject[]
}

export interface SubmitReceiptCommand {
  readonly kind: 'submitReceipt'
  readonly from: Principal
  readonly to: Principal
  readonly receiptType: string
  readonly parents: readonly string[]
  readonly body: JsonObject
  readonly taskId: string | null
  readonly scheduleId: string | null
}

/** What services ask: found by a sweep, checked again under the lock. */
export type SystemCommand =
  | { readonly kind: 'expire'; readonly taskId: string; readonly leaseId: string }
  | { readonly kind: 'deadline'; readonly taskId: string }
  | { readonly kind: 'unlinkable'; readonly taskId: string; readonly assignedReceiptId: string }
  | { readonly kind: 'resolve'; readonly taskId: string; readonly dependsOn: readonly string[] }
  | { readonly kind: 'refill'; readonly concurrencyKey: string }

/** `bytes`: size of the payload as JSON, where it is known; keeps a commit small. */
export type Command =
  | {
      readonly kind: 'create'
      readonly task: NewTask
      readonly rules?: TypeRules
      readonly bytes?: number
    }
  | {
      readonly kind: 'cancel'
      readonly actor: Actor
      readonly taskId: string
      readonly reason: string | null
    }
  | { readonly kind: 'retry'; readonly actor: Actor; readonly taskId: string; readonly rules?: TypeRules }
  | { readonly kind: 'ack'; readonly actor: Actor; readonly receiptId: string }
  | {
      readonly kind: 'greet'
      readonly principal: Principal
      readonly instanceId: string | null
    }
  | AttachCommand
  | SubmitReceiptCommand
  | ClaimCommand
  | LeaseCommand
  | SystemCommand
