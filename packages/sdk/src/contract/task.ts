// Operations of those who hand work off: create, look, cancel, redrive.
import { z } from 'zod'
import {
  actingAs,
  artifacts,
  asWorker,
  BATCH_MAX,
  DeliveryProof,
  field,
  NAME_LENGTH_MAX,
  page,
  PrincipalRef,
  SUMMARY_LENGTH_MAX,
  TASK_STATUSES,
  taskId,
  timestamp,
} from './fields.ts'
import { label, NewTask, newTask } from './new-task.ts'
import { operation } from './operation.ts'
import { each } from './parse.ts'

const Created = z.object({
  task_id: z.uuid(),
  status: z.enum(TASK_STATUSES),
  is_duplicate: z.boolean().describe('True when the idempotency key had been used: nothing new was made.'),
  receipt_id: z.uuid().describe('The task.assigned receipt: your proof, and the obligation that stays open.'),
  estimated_runtime_seconds: z.int().optional().describe('How long tasks of its type usually take.'),
  poll_suggestion_seconds: z.int().optional().describe('How often to ask for it, by what its type says.'),
  inbox_on_complete: z.boolean().describe('A task.result_ready receipt will be addressed to the recipient.'),
})

export const Failed = z.looseObject({ error: z.string(), message: z.string(), retryable: z.boolean() })

export const TaskResult = z.object({
  outcome: z.enum(['succeeded', 'failed', 'canceled']),
  result: z.unknown(),
  error: z.unknown(),
  artifacts: z.array(z.unknown()),
  delivery_proof: DeliveryProof.nullable(),
  completed_at: timestamp,
})

export const Task = z.object({
  task_id: z.uuid(),
  type: z.string(),
  payload: z.record(z.string(), z.unknown()),
  payload_pointer: z.string().nullable(),
  summary: z.string().nullable(),
  created_by: PrincipalRef,
  recipient: PrincipalRef,
  requirements: z.object({ capabilities: z.array(z.string()), tags: z.array(z.string()) }),
  priority: z.int(),
  status: z.enum(TASK_STATUSES),
  attempt: z.int(),
  max_attempts: z.int(),
  retry_backoff_seconds: z.int(),
  expiries: z.int(),
  max_expiries: z.int(),
  fence: z.int(),
  idempotency_key: z.string().nullable(),
  parent_task_id: z.uuid().nullable(),
  caused_by_receipt_id: z.uuid().nullable(),
  concurrency_key: z.string().nullable(),
  concurrency_limit: z.int().nullable(),
  timeout_seconds: z.int().nullable(),
  deadline_at: timestamp.nullable(),
  depends_on: z.array(z.uuid()),
  on_dependency_failure: z.enum(['cancel', 'run']),
  expected_outcome_kind: z.string().nullable(),
  expected_artifact_mime: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  created_at: timestamp,
  updated_at: timestamp,
  next_eligible_at: timestamp,
  started_at: timestamp.nullable(),
  completed_at: timestamp.nullable(),
  assigned_receipt_id: z.uuid(),
  asyncgate_instance: z.string(),
  dead_letter: z.boolean(),
  lease: z
    .object({
      lease_id: z.uuid().optional().describe('Shown to the lease holder alone.'),
      worker_id: z.string(),
      expires_at: timestamp,
      fence: z.int(),
    })
    .nullable(),
  progress: z.unknown().describe('What the worker reported last.'),
  result: TaskResult.nullable(),
})

const Reason = z.looseObject({
  reason: z
    .string()
    .describe('A code: ready, delayed, dependency, concurrency_limit, type_limit, leased, terminal, …'),
  message: z.string(),
})

export const taskOperations = {
  createTask: operation({
    summary: 'Queue a task and open its obligation.',
    guide:
      'Use it for work that may outlast this session. It returns once the task is durably stored; a worker does it later. ' +
      'You need not wait or remember: ask open_obligations in any later session, or get_task with this task_id. ' +
      'Give an idempotency_key so that repeating the call is safe. Ended tasks and their receipts are kept; nothing is deleted by itself.',
    route: 'POST /v1/tasks',
    scopes: ['tasks:write'],
    effect: 'write',
    errors: [
      'idempotency_conflict',
      'not_found',
      'parent_not_found',
      'receipt_too_large',
      'schema_violation',
      'quota_exceeded',
    ],
    status: 201,
    input: z.strictObject({ ...actingAs, ...newTask }),
    output: Created,
  }),
  createTasks: operation({
    summary: 'Queue up to 1000 tasks in one durable commit.',
    guide:
      'Use it to fan work out. Each item is as for create_task and succeeds or fails alone, in the order given; ' +
      'items that failed carry error and message in their place.',
    route: 'POST /v1/tasks/batch',
    scopes: ['tasks:write'],
    effect: 'write',
    errors: [],
    input: z.strictObject({
      ...actingAs,
      tasks: z.array(each(NewTask)).min(1).max(BATCH_MAX).describe('Each as for create_task.'),
    }),
    output: z.object({ tasks: z.array(z.union([Created, Failed])) }),
  }),
  getTask: operation({
    summary: 'Read one task: status, progress, and its result once it has ended.',
    guide:
      'Use it to fetch a result or to see how far a task is. With wait_seconds (at most 60) the call is held until the ' +
      'task ends; when it has not, call again or come back in a later session: nothing is lost.',
    route: 'GET /v1/tasks/{task_id}',
    scopes: ['tasks:read', 'tasks:lease'],
    effect: 'read',
    errors: ['not_found'],
    input: z.strictObject({
      ...actingAs,
      ...taskId,
      worker_id: field.name('Your worker id, to read a task whose lease you hold.').optional(),
      wait_seconds: z.int().min(0).max(60).default(0).describe('Hold the call until the task has ended.'),
    }),
    output: Task,
  }),
  listTasks: operation({
    summary: 'List tasks, newest first.',
    guide:
      'Use it to look around: by status, type, owner, tag or time. To learn what is still owed, prefer open_obligations: ' +
      'that answer is proved by the ledger. status=failed lists what retry_task can redrive; with dead_letter=true only what ran out of attempts.',
    route: 'GET /v1/tasks',
    scopes: ['tasks:read'],
    effect: 'read',
    errors: [],
    input: z.strictObject({
      ...actingAs,
      status: z.enum(TASK_STATUSES).optional().describe('Only tasks in this status.'),
      type: field.name('Only tasks of this type.').optional(),
      created_by: z
        .string()
        .min(1)
        .max(NAME_LENGTH_MAX + 10)
        .optional()
        .describe('Only tasks of this owner: "kind/id", or an id of any kind.'),
      dead_letter: z.boolean().optional().describe('Only tasks that did (or did not) run out of attempts.'),
      tag: label.optional().describe('Only tasks with this tag in requirements.tags.'),
      created_after: field.instant('Only tasks created at or after this time.').optional(),
      created_before: field.instant('Only tasks created before this time.').optional(),
      ...page,
    }),
    output: z.object({ tasks: z.array(Task), next_cursor: z.string().nullable() }),
  }),
  cancelTask: operation({
    summary: 'Cancel a task that has not ended.',
    guide:
      'Use it when the outcome is no longer wanted. A worker that holds the task learns of it at its next call. ' +
      'A task that has already ended is left as it is: ok is false and status says how it ended.',
    route: 'POST /v1/tasks/{task_id}/cancel',
    scopes: ['tasks:write'],
    effect: 'destructive',
    errors: ['not_found'],
    input: z.strictObject({
      ...actingAs,
      ...taskId,
      reason: z
        .string()
        .max(SUMMARY_LENGTH_MAX)
        .optional()
        .describe('Why; kept in the task.canceled receipt.'),
    }),
    output: z.object({ ok: z.boolean(), status: z.enum(TASK_STATUSES) }),
  }),
  retryTask: operation({
    summary: 'Redrive a failed task as a new task.',
    guide:
      'Use it for dead letters once the cause is mended. The failed task stays as it was; the new one names its terminal ' +
      'receipt as its cause. Repeating the call returns the task that the first call made.',
    route: 'POST /v1/tasks/{task_id}/retry',
    scopes: ['tasks:write'],
    effect: 'idempotent',
    errors: ['not_found', 'invalid_transition', 'schema_violation', 'quota_exceeded'],
    status: 201,
    input: z.strictObject({ ...actingAs, ...taskId }),
    output: Created,
  }),
  explainTask: operation({
    summary: 'Say why a task is not running.',
    guide:
      'Use it when a task seems stuck. It names the reason: the time it waits for, the dependency, the limit, the ' +
      'capabilities a worker must have, the lease that is held, or that it has ended.',
    route: 'GET /v1/tasks/{task_id}/explain',
    scopes: ['tasks:read'],
    effect: 'read',
    errors: ['not_found'],
    input: z.strictObject({ ...actingAs, ...taskId }),
    output: z.object({
      task_id: z.uuid(),
      status: z.enum(TASK_STATUSES),
      claimable: z.boolean().describe('A worker that fits would be given it now.'),
      reasons: z.array(Reason),
    }),
  }),
  getProgress: operation({
    summary: 'Read what workers reported on a task, oldest first.',
    guide: 'Use it for the history; get_task carries the latest report.',
    route: 'GET /v1/tasks/{task_id}/progress',
    scopes: ['tasks:read'],
    effect: 'read',
    listed: 'admin',
    errors: ['not_found'],
    input: z.strictObject({ ...actingAs, ...taskId, ...page }),
    output: z.object({
      progress: z.array(
        z.object({ progress: z.unknown(), worker_id: z.string(), fence: z.int(), reported_at: timestamp }),
      ),
      next_cursor: z.string().nullable(),
    }),
  }),
  attachArtifacts: operation({
    summary: 'Say where the result of a succeeded task is, and so discharge its obligation.',
    guide:
      'Use it after an anomaly locatability_missing: the task succeeded but nothing said where its result is. ' +
      'Adds a second task.completed receipt; the task itself stays as it was.',
    route: 'POST /v1/tasks/{task_id}/artifacts',
    scopes: ['tasks:lease', 'tasks:write'],
    effect: 'idempotent',
    errors: ['not_found', 'invalid_transition', 'locatability_required', 'receipt_too_large'],
    input: z.strictObject({
      ...actingAs,
      ...taskId,
      worker_id: field
        .name('The worker that completed the task, when it is the one that attaches.')
        .optional(),
      worker_kind: asWorker.worker_kind,
      artifacts,
    }),
    output: z.object({ ok: z.boolean(), receipt_id: z.uuid() }),
  }),
}
