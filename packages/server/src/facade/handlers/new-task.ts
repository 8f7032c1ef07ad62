// From what a caller wrote to the command that creates it.
import { type Each, GateError, type NewTask as WireNewTask } from '@asyncgate/sdk'
import type { z } from 'zod'
import type { Command, NewTask } from '../../engine/command.ts'
import type { Principal } from '../../engine/model.ts'
import type { Policy } from '../../engine/policy.ts'
import { typeOfKey } from '../../engine/type-limit.ts'
import { type Ruling, ruleOn } from '../../task-type/ruling.ts'
import type { CallContext } from '../handler.ts'
import { assertFits, eachThen, type HandlerParts, orNull } from './parts.ts'

type Wanted = z.output<typeof WireNewTask>
type Create = Extract<Command, { kind: 'create' }>

export interface Creation {
  readonly command: Create
  readonly guidance: Ruling['guidance']
}

/** Each for itself, in the order given. */
export async function toCreations(
  items: readonly Each<Wanted>[],
  { caller, acting }: CallContext,
  { plans, types }: Pick<HandlerParts, 'plans' | 'types'>,
): Promise<Each<Creation>[]> {
  const plan = plans.planOf(caller.tenantId)
  const { policy } = plan instanceof Promise ? await plan : plan
  const drafts = items.map((item) => eachThen(item, (input) => toDraft(input, acting, policy)))
  const wanted = drafts.flatMap((draft) => (draft.ok ? [draft.value] : []))
  const rulings = await ruleOn(
    wanted.map(({ task: { type, payload, concurrencyKey }, payloadBytes: bytes }) => ({
      type,
      payload,
      concurrencyKey,
      bytes,
    })),
    caller.tenantId,
    types,
  )
  const inOrder = rulings.values()
  return drafts.map((draft) => eachThen(draft, (value) => toCreation(value, inOrder.next().value!)))
}

function toCreation({ task, bytes }: Draft, { rules, guidance }: Ruling): Creation {
  // With a key it may be a repetition of what was accepted before, which only the engine can tell.
  if (rules.refusal !== null && task.idempotencyKey === null) throw rules.refusal
  return { command: { kind: 'create', task, rules, bytes }, guidance }
}

interface Draft {
  readonly task: NewTask
  readonly payloadBytes: number
  readonly bytes: number
}

function toDraft(input: Wanted, owner: Principal, policy: Policy): Draft {
  const payloadBytes = assertFits('payload', input.payload, policy)
  const bytes = payloadBytes + assertFits('metadata', input.metadata, policy)
  if (input.concurrency_limit !== undefined && input.concurrency_key === undefined) {
    const message = 'Field "concurrency_limit" needs a concurrency_key that it limits.'
    throw new GateError('invalid_input', message, { field: 'concurrency_limit' })
  }
  if (typeOfKey(orNull(input.concurrency_key)) !== null) {
    const message =
      'Field "concurrency_key" begins like the keys that the server makes for types. Choose another.'
    throw new GateError('invalid_input', message, { field: 'concurrency_key' })
  }
  return { task: toNewTask(input, owner), payloadBytes, bytes }
}

function toNewTask(input: Wanted, owner: Principal): NewTask {
  const { recipient } = input
  return {
    type: input.type,
    payload: input.payload,
    payloadPointer: orNull(input.payload_pointer),
    summary: orNull(input.summary),
    createdBy: owner,
    recipient:
      recipient === undefined ? owner : { kind: recipient.principal_kind, id: recipient.principal_id },
    capabilities: input.requirements?.capabilities ?? [],
    tags: [...new Set(input.requirements?.tags ?? [])],
    priority: orNull(input.priority),
    maxAttempts: orNull(input.max_attempts),
    retryBackoffSeconds: orNull(input.retry_backoff_seconds),
    maxExpiries: orNull(input.max_expiries),
    idempotencyKey: orNull(input.idempotency_key),
    parentTaskId: orNull(input.parent_task_id),
    causedByReceiptId: orNull(input.caused_by_receipt_id),
    concurrencyKey: orNull(input.concurrency_key),
    concurrencyLimit: orNull(input.concurrency_limit),
    timeoutSeconds: orNull(input.timeout_seconds),
    deadlineAt: millis(input.deadline_at),
    delaySeconds: orNull(input.delay_seconds),
    notBefore: millis(input.not_before),
    dependsOn: [...new Set(input.depends_on ?? [])],
    onDependencyFailure: input.on_dependency_failure,
    expectedOutcomeKind: orNull(input.expected_outcome_kind),
    expectedArtifactMime: orNull(input.expected_artifact_mime),
    successCriteria: orNull(input.success_criteria),
    resultDelivery: orNull(input.result_delivery),
    metadata: input.metadata,
  }
}

export function millis(at: string | undefined): number | null {
  return at === undefined ? null : Date.parse(at)
}
