// From what a caller wrote to the command that creates it.
import { GateError, type NewTask as WireNewTask } from '@asyncgate/sdk'
import type { z } from 'zod'
import type { Command, NewTask } from '../../engine/command.ts'
import type { Principal } from '../../engine/model.ts'
import type { Policy } from '../../engine/policy.ts'
import { assertFits, orNull } from './parts.ts'

type Wanted = z.output<typeof WireNewTask>

export function toCreate(
  input: Wanted,
  owner: Principal,
  policy: Policy,
): Extract<Command, { kind: 'create' }> {
  const bytes = assertFits('payload', input.payload, policy) + assertFits('metadata', input.metadata, policy)
  if (input.concurrency_limit !== undefined && input.concurrency_key === undefined) {
    const message = 'Field "concurrency_limit" needs a concurrency_key that it limits.'
    throw new GateError('invalid_input', message, { field: 'concurrency_limit' })
  }
  return { kind: 'create', task: toNewTask(input, owner), bytes }
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
    priority: input.priority,
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
