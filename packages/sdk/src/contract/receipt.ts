// Operations on the ledger: what is owed, what happened, and the proof of it.
import { z } from 'zod'
import {
  actingAs,
  field,
  INT_MAX,
  NAME_LENGTH_MAX,
  NAMED_MAX,
  page,
  Principal,
  PRINCIPAL_KINDS,
  timestamp,
} from './fields.ts'
import { operation } from './operation.ts'

export const Receipt = z.object({
  receipt_id: z.uuid(),
  tenant_id: z.string(),
  receipt_type: z.string(),
  created_at: timestamp,
  from: Principal,
  to: Principal,
  task_id: z.uuid().nullable(),
  lease_id: z.uuid().nullable(),
  schedule_id: z.string().nullable(),
  parents: z.array(z.uuid()),
  body: z.record(z.string(), z.unknown()),
  hash: z.string(),
  receipt_key: z.string(),
  asyncgate_instance: z.string(),
})

const receiptType = z.string().min(1).max(NAME_LENGTH_MAX)
const kind = z.enum(PRINCIPAL_KINDS)

const Server = z.object({
  name: z.string(),
  version: z.string(),
  instance_id: z.string(),
  uptime: z.number(),
})
const Relationship = z.object({
  principal_kind: kind,
  principal_id: z.string(),
  first_seen_at: timestamp,
  last_seen_at: timestamp,
  sessions_count: z.int(),
})

export const receiptOperations = {
  openObligations: operation({
    summary: 'What is still open? Every obligation owed to you that nothing has discharged.',
    guide:
      'Call it first in a new session. Each entry is a receipt (task.assigned, schedule.created) that no terminal receipt ' +
      'names as its parent: proved by the ledger, not guessed. Follow task_id with get_task for status and result. ' +
      'An obligation never expires; it stays until it is discharged.',
    route: 'GET /v1/obligations/open',
    scopes: ['receipts:read'],
    effect: 'read',
    listed: 'tasker',
    errors: [],
    input: z.strictObject({ ...actingAs, ...page }),
    output: z.strictObject({
      server: Server,
      relationship: Relationship,
      open_obligations: z.array(Receipt),
      cursor: z.string().nullable(),
    }),
  }),
  checkTerminator: operation({
    summary: 'Has this obligation been discharged, and by which receipt?',
    guide: 'Use it to prove the end of one obligation; get_receipt shows the whole chain.',
    route: 'POST /v1/receipts/check-terminator',
    scopes: ['receipts:read'],
    effect: 'read',
    listed: 'admin',
    errors: ['not_found'],
    input: z.strictObject({ ...actingAs, parent_receipt_id: field.id('The obligation.') }),
    output: z.object({ has_terminator: z.boolean(), terminator_receipt_id: z.uuid().optional() }),
  }),
  listReceipts: operation({
    summary: 'Read the ledger in order, filtered.',
    guide:
      'Use it to follow what happened: by recipient, sender, task or type. Pages are disjoint and complete; with ' +
      'since_receipt_id you get only what came after a receipt that you know.',
    route: 'GET /v1/receipts',
    scopes: ['receipts:read'],
    effect: 'read',
    listed: 'tasker',
    errors: ['not_found'],
    input: z.strictObject({
      ...actingAs,
      to_kind: kind.optional().describe('Kind of the principal it is addressed to.'),
      to_id: field.name('Principal it is addressed to.').optional(),
      from_kind: kind.optional().describe('Kind of the principal it comes from.'),
      from_id: field.name('Principal it comes from.').optional(),
      task_id: field.id('Only receipts of this task.').optional(),
      receipt_type: receiptType.optional().describe('Only this type, e.g. "task.result_ready".'),
      since_receipt_id: field.id('Only receipts after this one.').optional(),
      ...page,
    }),
    output: z.object({ receipts: z.array(Receipt), next_cursor: z.string().nullable() }),
  }),
  getReceipt: operation({
    summary: 'Read one receipt with the chain that it belongs to.',
    guide:
      'chain holds its ancestors, oldest first; discharged_by names the receipt that ended it, if it is an obligation.',
    route: 'GET /v1/receipts/{receipt_id}',
    scopes: ['receipts:read'],
    effect: 'read',
    listed: 'admin',
    errors: ['not_found'],
    input: z.strictObject({ ...actingAs, receipt_id: field.id('The receipt.') }),
    output: Receipt.extend({ chain: z.array(Receipt), discharged_by: z.uuid().nullable() }),
  }),
  ackReceipt: operation({
    summary: 'Record that you have seen a receipt.',
    guide: 'An acknowledgement is itself a receipt. It discharges nothing. Twice gives one.',
    route: 'POST /v1/receipts/{receipt_id}/ack',
    scopes: ['receipts:ack'],
    effect: 'idempotent',
    errors: ['not_found'],
    input: z.strictObject({ ...actingAs, receipt_id: field.id('The receipt.') }),
    output: z.object({ ok: z.literal(true), receipt_id: z.uuid() }),
  }),
  submitReceipt: operation({
    summary: 'Add a receipt of your own type to the ledger.',
    guide:
      'Types start with "x." or "schedule."; task.*, lease.* and system.* come from AsyncGate alone. The same fact again ' +
      'returns the first receipt. A schedule.deleted must name the schedule.created that it ends as its parent.',
    route: 'POST /v1/receipts',
    scopes: ['receipts:write'],
    effect: 'idempotent',
    errors: ['not_found', 'parents_required', 'parent_not_found', 'receipt_too_large'],
    status: 201,
    input: z.strictObject({
      ...actingAs,
      receipt_type: z
        .string()
        .max(NAME_LENGTH_MAX)
        .regex(/^(x|schedule)\.[a-z0-9_.-]+$/, 'types of your own start with "x." or "schedule."')
        .describe('E.g. "x.reviewed".'),
      to: z
        .strictObject({ kind, id: field.name('Id of the principal.') })
        .describe('Who it is addressed to.'),
      parents: z
        .array(field.id('A receipt.'))
        .max(NAMED_MAX)
        .default([])
        .describe('Receipts it follows from, at most 10.'),
      body: field
        .object(
          'The contract: at most 65,536 bytes of JSON, with the schema_version "1" that is added to it.',
        )
        .refine(({ schema_version = '1' }) => schema_version === '1', {
          path: ['schema_version'],
          message: 'it is always "1"; leave it out',
        })
        .default({}),
      task_id: field.id('Task that it concerns.').optional(),
      schedule_id: field.name('Schedule that it concerns.').optional(),
    }),
    output: z.object({ receipt_id: z.uuid(), hash: z.string(), is_duplicate: z.boolean() }),
  }),
  bootstrap: operation({
    summary: 'Old form of open_obligations.',
    guide: 'Deprecated: use open_obligations. Kept for old clients; only attention.inbox_receipts is filled.',
    route: 'GET /v1/bootstrap',
    scopes: ['receipts:read'],
    effect: 'read',
    listed: 'admin',
    deprecated: { successor: 'openObligations' },
    errors: ['not_found'],
    input: z.strictObject({
      ...actingAs,
      since_receipt_id: field.id('Only receipts after this one.').optional(),
      max_items: z.int().min(1).max(INT_MAX).optional().describe('At most this many receipts.'),
    }),
    output: z.object({
      server: Server,
      relationship: Relationship,
      attention: z.object({
        inbox_receipts: z.array(Receipt),
        assigned_tasks: z.array(z.unknown()),
        waiting_results: z.array(z.unknown()),
        running_or_scheduled: z.array(z.unknown()),
        anomalies: z.array(z.unknown()),
      }),
      cursor: z.object({ latest_receipt_id: z.uuid().nullable() }),
    }),
  }),
}
