// From the engine's values to the wire: snake_case and ISO times, in this one place.
import type { GateContract, Output } from '@asyncgate/sdk'
import { iso } from '../clock.ts'
import type { Grant } from '../engine/decide/index.ts'
import { receiptKey } from '../engine/ledger.ts'
import type { Lease, Principal, Receipt, Relationship, TaskDefinition, TaskResult } from '../engine/model.ts'
import { typeOfKey } from '../engine/type-limit.ts'
import type { TaskView } from '../store/port.ts'

type WireTask = Output<GateContract['getTask']>
type WireReceipt = Output<GateContract['listReceipts']>['receipts'][number]
type WireGrant = Output<GateContract['leaseNext']>['tasks'][number]

const isoOrNull = (at: number | null) => (at === null ? null : iso(at))
const principalRef = ({ kind, id }: Principal) => ({ principal_kind: kind, principal_id: id })

/** `holder`: whose lease id may be shown. */
export function taskToWire(
  { definition, state, lease, progress }: TaskView,
  holder: Principal | null,
): WireTask {
  return {
    task_id: definition.taskId,
    type: definition.type,
    payload: definition.payload,
    payload_pointer: definition.payloadPointer,
    summary: definition.summary,
    created_by: principalRef(definition.createdBy),
    recipient: principalRef(definition.recipient),
    requirements: { capabilities: [...definition.capabilities], tags: [...definition.tags] },
    priority: definition.priority,
    status: state.status,
    attempt: state.attempt,
    max_attempts: definition.maxAttempts,
    retry_backoff_seconds: definition.retryBackoffSeconds,
    expiries: state.expiries,
    max_expiries: definition.maxExpiries,
    fence: state.fence,
    idempotency_key: definition.idempotencyKey,
    parent_task_id: definition.parentTaskId,
    caused_by_receipt_id: definition.causedByReceiptId,
    ...ownConcurrency(definition),
    timeout_seconds: definition.timeoutSeconds,
    deadline_at: isoOrNull(definition.deadlineAt),
    depends_on: [...definition.dependsOn],
    on_dependency_failure: definition.onDependencyFailure,
    expected_outcome_kind: definition.expectedOutcomeKind,
    expected_artifact_mime: definition.expectedArtifactMime,
    metadata: definition.metadata,
    created_at: iso(definition.createdAt),
    updated_at: iso(state.updatedAt),
    next_eligible_at: iso(state.nextEligibleAt),
    started_at: isoOrNull(state.startedAt),
    completed_at: isoOrNull(state.completedAt),
    assigned_receipt_id: definition.assignedReceiptId,
    asyncgate_instance: definition.instance,
    dead_letter: state.deadLetter,
    lease: lease === null ? null : leaseToWire(lease, holder),
    progress,
    result: state.result === null ? null : resultToWire(state.result),
  }
}

/** Under the key of its type it has none of its own. */
function ownConcurrency({ concurrencyKey: key, concurrencyLimit: limit }: TaskDefinition) {
  const isOwn = typeOfKey(key) === null
  return { concurrency_key: isOwn ? key : null, concurrency_limit: isOwn ? limit : null }
}

function leaseToWire(lease: Lease, holder: Principal | null): NonNullable<WireTask['lease']> {
  const held = holder !== null && holder.kind === lease.worker.kind && holder.id === lease.worker.id
  return {
    ...(held ? { lease_id: lease.leaseId } : {}),
    worker_id: lease.worker.id,
    expires_at: iso(lease.expiresAt),
    fence: lease.fence,
  }
}

function resultToWire(result: TaskResult): NonNullable<WireTask['result']> {
  return {
    outcome: result.outcome,
    result: result.result,
    error: result.error,
    artifacts: [...result.artifacts],
    // Parsed by the contract's own schema when it came in.
    delivery_proof: result.deliveryProof as NonNullable<WireTask['result']>['delivery_proof'],
    completed_at: iso(result.completedAt),
  }
}

/** `resultChannel`: where the task wants its result kept. */
export function grantToWire(
  { task: { definition, state }, lease }: Grant,
  resultChannel: string | null,
): WireGrant {
  return {
    task_id: definition.taskId,
    lease_id: lease.leaseId,
    fence: lease.fence,
    type: definition.type,
    payload: definition.payload,
    payload_pointer: definition.payloadPointer,
    summary: definition.summary,
    attempt: state.attempt,
    max_attempts: definition.maxAttempts,
    priority: definition.priority,
    expires_at: iso(lease.expiresAt),
    timeout_at: isoOrNull(lease.timeoutAt),
    deadline_at: isoOrNull(definition.deadlineAt),
    requirements: { capabilities: [...definition.capabilities], tags: [...definition.tags] },
    created_by: principalRef(definition.createdBy),
    recipient: principalRef(definition.recipient),
    expected_outcome_kind: definition.expectedOutcomeKind,
    expected_artifact_mime: definition.expectedArtifactMime,
    result_channel: resultChannel,
    metadata: definition.metadata,
    created_at: iso(definition.createdAt),
  }
}

export function receiptToWire(receipt: Receipt): WireReceipt {
  return {
    receipt_id: receipt.receiptId,
    tenant_id: receipt.tenantId,
    receipt_type: receipt.receiptType,
    created_at: iso(receipt.createdAt),
    from: receipt.from,
    to: receipt.to,
    task_id: receipt.taskId,
    lease_id: receipt.leaseId,
    schedule_id: receipt.scheduleId,
    parents: [...receipt.parents],
    body: receipt.body,
    hash: receipt.hash,
    receipt_key: receiptKey(receipt, receipt.hash),
    asyncgate_instance: receipt.instance,
  }
}

export function relationshipToWire(of: Relationship) {
  return {
    ...principalRef(of.principal),
    first_seen_at: iso(of.firstSeenAt),
    last_seen_at: iso(of.lastSeenAt),
    sessions_count: of.sessionsCount,
  }
}
