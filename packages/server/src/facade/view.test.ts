// From the engine's values to the wire: every field under its name, times as ISO, the lease id for its holder alone.
import { contract, LeasedTask, Receipt as WireReceipt, Task as WireTask } from '@asyncgate/sdk'
import { describe, expect, test } from 'vitest'
import { receiptKey } from '../engine/ledger.ts'
import type { Lease, Principal, Receipt, Task } from '../engine/model.ts'
import type { TaskView } from '../store/port.ts'
import { grantToWire, receiptToWire, relationshipToWire, taskToWire } from './view.ts'

const AT = Date.UTC(2026, 0, 2, 3, 4, 5, 6)
const ISO = '2026-01-02T03:04:05.006Z'
const ID = '0197c5a4-7d2e-7c11-9d3a-5b2f4e8a1c01'
const OTHER = '0197c5a4-7d2e-7c11-9d3a-5b2f4e8a1c02'
const OWNER: Principal = { kind: 'agent', id: 'alice' }
const HOLDER: Principal = { kind: 'worker', id: 'w1' }

const TASK: Task = {
  definition: {
    taskId: ID,
    type: 'work',
    payload: { a: 1 },
    payloadPointer: null,
    summary: 's',
    createdBy: OWNER,
    recipient: { kind: 'human', id: 'bob' },
    capabilities: ['gpu'],
    tags: ['red'],
    lane: 'internal',
    priority: 3,
    maxAttempts: 4,
    retryBackoffSeconds: 5,
    maxExpiries: 6,
    idempotencyKey: 'k',
    idempotencyHash: 'internal',
    requestHash: 'internal',
    parentTaskId: OTHER,
    causedByReceiptId: OTHER,
    concurrencyKey: 'c',
    concurrencyLimit: 7,
    timeoutSeconds: 8,
    deadlineAt: AT,
    dependsOn: [OTHER],
    onDependencyFailure: 'run',
    expectedOutcomeKind: 'file',
    expectedArtifactMime: 'text/plain',
    successCriteria: 'in the receipt',
    resultDelivery: 'in the receipt',
    metadata: { m: 1 },
    createdAt: AT,
    assignedReceiptId: OTHER,
    instance: 'i',
  },
  state: {
    status: 'leased',
    place: 'none',
    attempt: 1,
    expiries: 2,
    fence: 9,
    nextEligibleAt: AT,
    updatedAt: AT,
    startedAt: null,
    completedAt: null,
    deadLetter: false,
    hasDependents: false,
    terminalReceiptId: null,
    result: null,
  },
}

const LEASE: Lease = {
  leaseId: OTHER,
  taskId: ID,
  worker: HOLDER,
  fence: 9,
  grantedAt: AT,
  ttlMs: 1,
  expiresAt: AT,
  timeoutAt: AT,
  checkAt: AT,
  renewals: 0,
  concurrencyKey: 'c',
  endedAt: null,
  end: null,
  settlement: null,
}

const VIEW: TaskView = { ...TASK, lease: LEASE, progress: { percent: 5 } }

describe('a task', () => {
  test('is what the contract says, field by field', () => {
    const wire = taskToWire(VIEW, null)
    expect(WireTask.strict().parse(wire)).toEqual(wire)
    expect(wire).toEqual({
      task_id: ID,
      type: 'work',
      payload: { a: 1 },
      payload_pointer: null,
      summary: 's',
      created_by: { principal_kind: 'agent', principal_id: 'alice' },
      recipient: { principal_kind: 'human', principal_id: 'bob' },
      requirements: { capabilities: ['gpu'], tags: ['red'] },
      priority: 3,
      status: 'leased',
      attempt: 1,
      max_attempts: 4,
      retry_backoff_seconds: 5,
      expiries: 2,
      max_expiries: 6,
      fence: 9,
      idempotency_key: 'k',
      parent_task_id: OTHER,
      caused_by_receipt_id: OTHER,
      concurrency_key: 'c',
      concurrency_limit: 7,
      timeout_seconds: 8,
      deadline_at: ISO,
      depends_on: [OTHER],
      on_dependency_failure: 'run',
      expected_outcome_kind: 'file',
      expected_artifact_mime: 'text/plain',
      metadata: { m: 1 },
      created_at: ISO,
      updated_at: ISO,
      next_eligible_at: ISO,
      started_at: null,
      completed_at: null,
      assigned_receipt_id: OTHER,
      asyncgate_instance: 'i',
      dead_letter: false,
      lease: { worker_id: 'w1', expires_at: ISO, fence: 9 },
      progress: { percent: 5 },
      result: null,
    })
  })

  test.each<[string, Principal | null, boolean]>([
    ['its holder', HOLDER, true],
    ['its owner', OWNER, false],
    ['a principal of the same id and another kind', { kind: 'service', id: 'w1' }, false],
    ['nobody', null, false],
  ])('the lease id, for %s', (_who, reader, isShown) => {
    expect('lease_id' in taskToWire(VIEW, reader).lease!).toBe(isShown)
  })

  test('that has ended carries its result', () => {
    const result = {
      outcome: 'failed' as const,
      result: null,
      error: { code: 'e' },
      artifacts: [{ key: 'k' }],
      deliveryProof: null,
      completedAt: AT,
    }
    const ended = { ...VIEW, lease: null, state: { ...TASK.state, completedAt: AT, result } }
    expect(taskToWire(ended, null)).toMatchObject({
      lease: null,
      completed_at: ISO,
      result: {
        outcome: 'failed',
        result: null,
        error: { code: 'e' },
        artifacts: [{ key: 'k' }],
        delivery_proof: null,
        completed_at: ISO,
      },
    })
  })
})

test('a grant is what the contract says, with all that a worker needs', () => {
  const wire = grantToWire({ task: TASK, lease: LEASE }, 'blob')
  expect(LeasedTask.strict().parse(wire)).toEqual(wire)
  expect(wire).toMatchObject({
    task_id: ID,
    lease_id: OTHER,
    fence: 9,
    payload: { a: 1 },
    attempt: 1,
    expires_at: ISO,
    timeout_at: ISO,
    deadline_at: ISO,
  })
})

test('a receipt is what the contract says, field by field', () => {
  const receipt: Receipt = {
    receiptId: ID,
    tenantId: 't',
    receiptType: 'x.note',
    createdAt: AT,
    from: OWNER,
    to: HOLDER,
    taskId: null,
    leaseId: null,
    scheduleId: 's',
    parents: [OTHER],
    body: { a: 1 },
    bodyBytes: 0,
    hash: 'h',
    instance: 'i',
  }
  const wire = receiptToWire(receipt)
  expect(WireReceipt.strict().parse(wire)).toEqual(wire)
  expect(wire).toEqual({
    receipt_id: ID,
    tenant_id: 't',
    receipt_type: 'x.note',
    created_at: ISO,
    from: OWNER,
    to: HOLDER,
    task_id: null,
    lease_id: null,
    schedule_id: 's',
    parents: [OTHER],
    body: { a: 1 },
    hash: 'h',
    receipt_key: receiptKey(receipt, 'h'),
    asyncgate_instance: 'i',
  })
})

test('a relationship is what the contract says', () => {
  const wire = relationshipToWire({ principal: OWNER, firstSeenAt: AT, lastSeenAt: AT, sessionsCount: 2 })
  expect(contract.openObligations.output.shape.relationship.strict().parse(wire)).toEqual({
    principal_kind: 'agent',
    principal_id: 'alice',
    first_seen_at: ISO,
    last_seen_at: ISO,
    sessions_count: 2,
  })
})
