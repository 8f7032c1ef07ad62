// Operations of workers: claim, keep, report, give back.
import { z } from 'zod'
import {
  artifacts,
  asWorker,
  BATCH_MAX,
  DeliveryProof,
  field,
  holdingLease,
  INT_MAX,
  LIST_ENTRIES_MAX,
  NAME_LENGTH_MAX,
  PrincipalRef,
  SUMMARY_LENGTH_MAX,
  TASK_STATUSES,
  timestamp,
} from './fields.ts'
import { operation } from './operation.ts'
import { each } from './parse.ts'
import { Failed } from './task.ts'

const names = z.array(z.string().min(1).max(NAME_LENGTH_MAX)).max(LIST_ENTRIES_MAX)

/** TTLs and waits out of range are clamped by the engine, as the specification says; these bounds only stop nonsense. */
const claim = {
  worker_instance_id: field.name('This process of the worker.').optional(),
  capabilities: names
    .optional()
    .describe('What you can do; a task is offered only if you have all it requires.'),
  accept_types: names.optional().describe('Only these types; absent means any.'),
  preferred_types: names.optional().describe('Of equal priority, these first.'),
  max_tasks: z.int().min(1).max(BATCH_MAX).default(1).describe('At most this many tasks.'),
  lease_ttl_seconds: z.int().optional().describe('Lease length; default 300, clamped to 10–1800.'),
  wait_seconds: z
    .int()
    .min(0)
    .max(60)
    .default(0)
    .describe('Hold the call until there is work, at most this long.'),
  capacity: z
    .int()
    .min(1)
    .max(INT_MAX)
    .optional()
    .describe('At most this many leases for this worker_id at one time.'),
}

const completion = {
  result: field.json('The result: any JSON, at most 1 MiB.').default(null),
  result_summary: z
    .string()
    .max(SUMMARY_LENGTH_MAX)
    .optional()
    .describe('One line for people who read the ledger.'),
  artifacts: artifacts.optional(),
  delivery_proof: DeliveryProof.optional(),
  store_result: z
    .boolean()
    .default(false)
    .describe('Keep the result with the task and count that as located: the obligation is discharged.'),
  completion_metadata: field.object('Figures of the execution, kept in the receipt.').optional(),
}
const failure = {
  error: z
    .looseObject({
      code: z.string().min(1).max(NAME_LENGTH_MAX),
      message: z.string().max(SUMMARY_LENGTH_MAX * 5),
    })
    .describe('What went wrong: {code, message, …}.'),
  retryable: z.boolean().default(true).describe('False when trying again cannot help.'),
  retry_after_seconds: field
    .seconds('Wait this long before the next attempt, instead of the backoff.')
    .optional(),
}
const progress = { progress: field.object('How far it is: {percent?, message?, …}.') }
const renewal = {
  extend_by_seconds: z.int().optional().describe("New length from now; default the lease's own."),
}
const release = { reason: z.string().max(SUMMARY_LENGTH_MAX).optional().describe('Why it is given back.') }

export const LeasedTask = z.object({
  task_id: z.uuid(),
  lease_id: z.uuid(),
  fence: z.int().describe('Grows with every grant of this task: lets you refuse your own late side effects.'),
  type: z.string(),
  payload: z.record(z.string(), z.unknown()),
  payload_pointer: z.string().nullable(),
  summary: z.string().nullable(),
  attempt: z.int(),
  max_attempts: z.int(),
  priority: z.int(),
  expires_at: timestamp,
  timeout_at: timestamp.nullable(),
  deadline_at: timestamp.nullable(),
  requirements: z.object({ capabilities: z.array(z.string()), tags: z.array(z.string()) }),
  created_by: PrincipalRef,
  recipient: PrincipalRef,
  expected_outcome_kind: z.string().nullable(),
  expected_artifact_mime: z.string().nullable(),
  result_channel: z.string().nullable().describe('Where the task wants its result kept; null: by its size.'),
  metadata: z.record(z.string(), z.unknown()),
  created_at: timestamp,
})

const Kept = z.object({ ok: z.literal(true), expires_at: timestamp })
const Completed = z.object({ ok: z.literal(true), status: z.enum(TASK_STATUSES), receipt_id: z.uuid() })
const FailedReply = z.object({
  ok: z.literal(true),
  requeued: z.boolean(),
  next_eligible_at: timestamp.optional(),
})
const Released = z.object({ ok: z.literal(true), status: z.enum(TASK_STATUSES) })

const settled = { task_id: holdingLease.task_id, lease_id: holdingLease.lease_id }
const SettleOutcome = z.discriminatedUnion('action', [
  z.strictObject({ ...settled, action: z.literal('complete'), ...completion }),
  z.strictObject({ ...settled, action: z.literal('fail'), ...failure }),
  z.strictObject({ ...settled, action: z.literal('release'), ...release }),
  z.strictObject({ ...settled, action: z.literal('renew'), ...renewal }),
  z.strictObject({ ...settled, action: z.literal('progress'), ...progress }),
])

const LEASE_ERRORS = ['not_found', 'lease_invalid_or_expired'] as const
const NEXT_LEASE =
  'On lease_invalid_or_expired stop the work: the lease was lost or the task canceled (see task_status).'

export const leaseOperations = {
  leaseNext: operation({
    summary: 'Claim tasks to work on.',
    guide:
      'Workers only. Returns tasks that fit your types and capabilities, highest priority first, each with a lease; an ' +
      'empty list means no work. Use wait_seconds instead of polling. Then renew_lease before expires_at, and end with ' +
      'complete, fail or release_lease.',
    route: 'POST /v1/leases/claim',
    scopes: ['tasks:lease'],
    effect: 'write',
    errors: [],
    input: z.strictObject({ ...asWorker, ...claim }),
    output: z.object({ tasks: z.array(LeasedTask) }),
  }),
  renewLease: operation({
    summary: 'Keep a lease alive.',
    guide: `Call it at about a third of the lease's length while you work. ${NEXT_LEASE}`,
    route: 'POST /v1/leases/renew',
    scopes: ['tasks:lease'],
    effect: 'write',
    errors: [...LEASE_ERRORS, 'lease_renewal_limit'],
    input: z.strictObject({ ...holdingLease, ...renewal }),
    output: Kept,
  }),
  releaseLease: operation({
    summary: 'Give a task back at once, without counting a failure.',
    guide:
      'Use it when you cannot do the work or are shutting down; another worker can take the task immediately.',
    route: 'POST /v1/leases/release',
    scopes: ['tasks:lease'],
    effect: 'idempotent',
    errors: [...LEASE_ERRORS, 'already_settled'],
    input: z.strictObject({ ...holdingLease, ...release }),
    output: Released,
  }),
  start: operation({
    summary: 'Mark a leased task as running.',
    guide: `Optional: the first report_progress does it too. ${NEXT_LEASE}`,
    route: 'POST /v1/tasks/{task_id}/start',
    scopes: ['tasks:lease'],
    effect: 'idempotent',
    errors: LEASE_ERRORS,
    input: z.strictObject(holdingLease),
    output: z.object({ ok: z.literal(true), status: z.enum(TASK_STATUSES), expires_at: timestamp }),
  }),
  reportProgress: operation({
    summary: 'Report how far a task is.',
    guide: `Progress is kept as history and shown to the owner; it does not extend the lease. ${NEXT_LEASE}`,
    route: 'POST /v1/tasks/{task_id}/progress',
    scopes: ['tasks:lease'],
    effect: 'write',
    errors: LEASE_ERRORS,
    input: z.strictObject({ ...holdingLease, ...progress }),
    output: Kept,
  }),
  complete: operation({
    summary: 'End a task with its result.',
    guide:
      'Say where the result is: artifacts with a locator, a delivery_proof, or store_result: true to keep it with the ' +
      'task. Without any of these the task succeeds but its obligation stays open. Repeating the same call is safe.',
    route: 'POST /v1/tasks/{task_id}/complete',
    scopes: ['tasks:lease'],
    effect: 'idempotent',
    errors: [...LEASE_ERRORS, 'already_settled', 'locatability_required', 'receipt_too_large'],
    input: z.strictObject({ ...holdingLease, ...completion }),
    output: Completed,
  }),
  fail: operation({
    summary: 'Report that an attempt failed.',
    guide:
      'A retryable failure is queued again after a backoff while attempts are left; otherwise the task is failed for ' +
      'good and its owner told. Repeating the same call is safe.',
    route: 'POST /v1/tasks/{task_id}/fail',
    scopes: ['tasks:lease'],
    effect: 'idempotent',
    errors: [...LEASE_ERRORS, 'already_settled', 'receipt_too_large'],
    input: z.strictObject({ ...holdingLease, ...failure }),
    output: FailedReply,
  }),
  settle: operation({
    summary: 'Report up to 1000 outcomes and claim the next tasks, in one durable commit.',
    guide:
      'For throughput. Each outcome is {task_id, lease_id, action, …fields of that action} and succeeds or fails alone, in ' +
      'the order given; claim is as for lease_next.',
    route: 'POST /v1/leases/settle',
    scopes: ['tasks:lease'],
    effect: 'write',
    errors: [],
    input: z.strictObject({
      ...asWorker,
      outcomes: z
        .array(each(SettleOutcome))
        .max(BATCH_MAX)
        .default([])
        .describe(
          'Each {task_id, lease_id, action, …} with the fields of complete, fail, release, renew or progress.',
        ),
      claim: z
        .strictObject(claim)
        .optional()
        .describe('Claim the next tasks in the same commit, as lease_next.'),
    }),
    output: z.object({
      outcomes: z.array(
        z.union([
          z.looseObject({ task_id: z.uuid(), ok: z.literal(true) }),
          Failed.extend({ task_id: z.string().nullable(), ok: z.literal(false) }),
        ]),
      ),
      tasks: z.array(LeasedTask),
    }),
  }),
}
