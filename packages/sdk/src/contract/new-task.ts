// What a task is asked for with.
import { z } from 'zod'
import {
  DEPENDENCIES_MAX,
  field,
  INT_MAX,
  KEY_LENGTH_MAX,
  LIST_ENTRIES_MAX,
  NAME_LENGTH_MAX,
  NamedPrincipal,
  SUMMARY_LENGTH_MAX,
} from './fields.ts'

export const label = z.string().min(1).max(NAME_LENGTH_MAX)

const Requirements = z.strictObject({
  capabilities: z
    .array(label)
    .max(LIST_ENTRIES_MAX)
    .default([])
    .describe('All of these the worker must have.'),
  tags: z
    .array(label)
    .max(LIST_ENTRIES_MAX)
    .default([])
    .describe('Labels to find the task by; no effect on claims.'),
})

export const newTask = {
  type: field.name('What kind of work, e.g. "report.render". Workers claim by type.'),
  payload: field.object('Input for the worker: any JSON object, at most 1 MiB.').default({}),
  payload_pointer: z
    .string()
    .min(1)
    .max(SUMMARY_LENGTH_MAX)
    .optional()
    .describe('Where a large input is kept.'),
  summary: z.string().max(SUMMARY_LENGTH_MAX).optional().describe('One line for people who read the ledger.'),
  recipient: NamedPrincipal.optional().describe('Who is owed the outcome; default you.'),
  requirements: Requirements.optional().describe('What a worker must have, and labels.'),
  priority: z
    .int()
    .min(-INT_MAX)
    .max(INT_MAX)
    .optional()
    .describe('Higher goes first; default that of its type, or 0.'),
  max_attempts: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .describe('Failures allowed before it is final; default that of its type, or 3.'),
  retry_backoff_seconds: field
    .seconds('First wait after a failure; doubles each time up to 900; default 30.')
    .optional(),
  max_expiries: z
    .int()
    .min(0)
    .max(INT_MAX)
    .optional()
    .describe('Lost leases allowed; default 20, 0 = unlimited.'),
  idempotency_key: z
    .string()
    .min(1)
    .max(KEY_LENGTH_MAX)
    .optional()
    .describe('Makes the call safe to repeat: the same key and body return the first task.'),
  parent_task_id: field.id('Task that this one is part of.').optional(),
  caused_by_receipt_id: field.id('Receipt that led to this task.').optional(),
  concurrency_key: field.name('Tasks with the same key share a limit of leases at one time.').optional(),
  concurrency_limit: z.int().min(1).max(INT_MAX).optional().describe('Limit for concurrency_key; default 1.'),
  timeout_seconds: field.seconds('Longest single execution, whatever the renewals.', 1).optional(),
  deadline_at: field.instant('When the whole task fails if it has not ended.').optional(),
  delay_seconds: field.seconds('Not to be leased before this many seconds from now.').optional(),
  not_before: field.instant('Not to be leased before this time.').optional(),
  depends_on: z
    .array(field.id('A task.'))
    .max(DEPENDENCIES_MAX)
    .optional()
    .describe('Tasks that must succeed first.'),
  on_dependency_failure: z
    .enum(['cancel', 'run'])
    .default('cancel')
    .describe('When one of depends_on does not succeed.'),
  expected_outcome_kind: label.optional().describe('What kind of outcome is expected.'),
  expected_artifact_mime: label.optional().describe('Media type of the expected artifact.'),
  success_criteria: field.json('What counts as done; recorded in the contract.').optional(),
  result_delivery: field
    .json(
      'Where the result should go; recorded in the contract. {channel} names the result channel that workers use.',
    )
    .optional(),
  metadata: field.object('Your own annotations; kept and returned.').default({}),
}

export const NewTask = z.strictObject(newTask)
