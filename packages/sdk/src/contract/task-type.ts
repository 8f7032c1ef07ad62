// The registry of task types: what an administrator says about a type, and what everybody who creates tasks may read of it.
import { z } from 'zod'
import { actingAs, field, INT_MAX, page, SUMMARY_LENGTH_MAX, timestamp } from './fields.ts'
import { operation } from './operation.ts'

/** A hundred years: beyond it a retention is a mistake. */
const RETENTION_DAYS_MAX = 36_500

const taskType = { task_type: field.name('The type, as tasks name it, e.g. "report.render".') }

const settings = {
  description: z
    .string()
    .max(SUMMARY_LENGTH_MAX)
    .optional()
    .describe('What the type does, for who chooses it.'),
  params_schema: field
    .object(
      'JSON Schema (draft 2020-12, or 07 where $schema says so) that payloads must fit; references within itself only, at most 64 KiB.',
    )
    .optional(),
  default_priority: z
    .int()
    .min(-INT_MAX)
    .max(INT_MAX)
    .optional()
    .describe('Priority of tasks that name none.'),
  default_max_attempts: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .describe('Failures allowed for tasks that do not say.'),
  default_timeout_seconds: field.seconds('Bound of one execution for tasks that name none.', 1).optional(),
  default_retention_days: z
    .int()
    .min(1)
    .max(RETENTION_DAYS_MAX)
    .optional()
    .describe('How long ended tasks of the type are to be kept.'),
  default_result_channel: field.name('Where results go when the worker does not choose.').optional(),
  estimated_runtime_seconds: field.seconds('How long it usually takes; create_task tells it.').optional(),
  poll_suggestion_seconds: field.seconds('How often to ask for it; create_task tells it.', 1).optional(),
  max_payload_bytes: z
    .int()
    .min(2)
    .max(INT_MAX)
    .optional()
    .describe('Largest payload as JSON, where less than the server allows.'),
  max_concurrent: z
    .int()
    .min(1)
    .max(INT_MAX)
    .optional()
    .describe('Leases that tasks of the type may have at one time.'),
  enabled: z.boolean().default(true).describe('False: no new task of the type is accepted.'),
}

const TaskType = z.object({
  task_type: z.string(),
  description: z.string().nullable(),
  params_schema: z.record(z.string(), z.unknown()).nullable(),
  default_priority: z.int().nullable(),
  default_max_attempts: z.int().nullable(),
  default_timeout_seconds: z.int().nullable(),
  default_retention_days: z.int().nullable(),
  default_result_channel: z.string().nullable(),
  estimated_runtime_seconds: z.int().nullable(),
  poll_suggestion_seconds: z.int().nullable(),
  max_payload_bytes: z.int().nullable(),
  max_concurrent: z.int().nullable(),
  enabled: z.boolean(),
  created_at: timestamp,
  updated_at: timestamp,
})

export const taskTypeOperations = {
  putTaskType: operation({
    summary: 'Register a task type, or replace what is registered.',
    guide:
      'Use it to check payloads when tasks are created, to give them defaults, and to bound how many run at once. ' +
      'The whole registration is replaced: what is left out is unset. Other servers follow within a minute; ' +
      'tasks that exist keep what they were created with, but max_concurrent holds for them as it is now.',
    route: 'POST /v1/admin/types',
    scopes: ['admin:write'],
    effect: 'idempotent',
    listed: 'admin',
    errors: [],
    input: z.strictObject({ ...taskType, ...settings }),
    output: TaskType,
  }),
  listTaskTypes: operation({
    summary: 'List the registered task types, with the JSON Schema of their payloads.',
    guide:
      'Use it before create_task to learn which types there are and what payload each takes. ' +
      'With registered_only no other type is accepted; without, any type is, and only these are checked.',
    route: 'GET /v1/admin/types',
    scopes: ['tasks:read', 'admin:read', 'admin:write'],
    effect: 'read',
    listed: 'tasker',
    errors: [],
    input: z.strictObject({ ...actingAs, ...page }),
    output: z.object({
      types: z.array(TaskType),
      registered_only: z.boolean().describe('True: tasks of other types are refused.'),
      next_cursor: z.string().nullable(),
    }),
  }),
  getTaskType: operation({
    summary: 'Read one registered task type.',
    guide: 'Use it to see the schema and the defaults of a type whose name you know.',
    route: 'GET /v1/admin/types/{task_type}',
    scopes: ['tasks:read', 'admin:read', 'admin:write'],
    effect: 'read',
    listed: 'admin',
    errors: ['not_found'],
    input: z.strictObject({ ...actingAs, ...taskType }),
    output: TaskType,
  }),
  deleteTaskType: operation({
    summary: 'Forget what is registered of a task type.',
    guide:
      'Use it when nothing should be checked any more; its tasks stay and go on. To refuse new tasks of the type, ' +
      'register it with enabled: false instead.',
    route: 'POST /v1/admin/types/{task_type}/delete',
    scopes: ['admin:write'],
    effect: 'destructive',
    listed: 'admin',
    errors: ['not_found'],
    input: z.strictObject(taskType),
    output: TaskType,
  }),
  setRegisteredOnly: operation({
    summary: 'Say whether tasks of types that are not registered are refused.',
    guide: 'Use it once all types of your tenant are registered, so that a mistyped one is noticed at once.',
    route: 'POST /v1/admin/types/registered-only',
    scopes: ['admin:write'],
    effect: 'idempotent',
    listed: 'admin',
    errors: [],
    input: z.strictObject({
      registered_only: z.boolean().describe('True: tasks of types that are not registered are refused.'),
    }),
    output: z.object({ registered_only: z.boolean() }),
  }),
}
