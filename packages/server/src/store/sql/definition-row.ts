// What was asked for, between rows and values. What nothing filters or sorts by is one JSON column, without its empty
// members.
import type { JsonObject, PrincipalKind, TaskDefinition } from '../../engine/model.ts'
import type { RowOf, Words } from './session.ts'

export const DEFINITION_COLUMNS = {
  task_id: 'uuid',
  type: 'text',
  lane: 'text',
  priority: 'int',
  created_by_kind: 'text',
  created_by_id: 'text',
  recipient_kind: 'text',
  recipient_id: 'text',
  idempotency_hash: 'hex',
  request_hash: 'hex',
  concurrency_key: 'text',
  concurrency_limit: 'int',
  deadline_at: 'bigint',
  created_at: 'bigint',
  assigned_receipt_id: 'uuid',
  payload: 'json',
  definition: 'json',
} as const

/** `t` is tasks. */
export function definitionColumns({ hex }: Words): string {
  return `t.task_id, t.type, t.lane, t.priority, t.created_by_kind, t.created_by_id, t.recipient_kind, t.recipient_id,
    ${hex('t.idempotency_hash')} as idempotency_hash, ${hex('t.request_hash')} as request_hash, t.concurrency_key,
    t.concurrency_limit, t.deadline_at, t.created_at, t.assigned_receipt_id, t.payload, t.definition`
}

export interface DefinitionRow {
  readonly task_id: string
  readonly type: string
  readonly lane: string
  readonly priority: number
  readonly created_by_kind: PrincipalKind
  readonly created_by_id: string
  readonly recipient_kind: PrincipalKind
  readonly recipient_id: string
  readonly idempotency_hash: string | null
  readonly request_hash: string | null
  readonly concurrency_key: string | null
  readonly concurrency_limit: number | null
  readonly deadline_at: number | null
  readonly created_at: number
  readonly assigned_receipt_id: string
  readonly payload: string
  readonly definition: string
}

type Details = Pick<
  TaskDefinition,
  | 'payloadPointer'
  | 'summary'
  | 'capabilities'
  | 'tags'
  | 'maxAttempts'
  | 'retryBackoffSeconds'
  | 'maxExpiries'
  | 'idempotencyKey'
  | 'parentTaskId'
  | 'causedByReceiptId'
  | 'timeoutSeconds'
  | 'dependsOn'
  | 'onDependencyFailure'
  | 'expectedOutcomeKind'
  | 'expectedArtifactMime'
  | 'successCriteria'
  | 'resultDelivery'
  | 'metadata'
  | 'instance'
>

/**
 * What a missing member of the JSON column stands for. Part of the format: a new default must not change old
 * rows.
 */
const BLANK: Details = {
  payloadPointer: null,
  summary: null,
  capabilities: [],
  tags: [],
  maxAttempts: 3,
  retryBackoffSeconds: 30,
  maxExpiries: 20,
  idempotencyKey: null,
  parentTaskId: null,
  causedByReceiptId: null,
  timeoutSeconds: null,
  dependsOn: [],
  onDependencyFailure: 'cancel',
  expectedOutcomeKind: null,
  expectedArtifactMime: null,
  successCriteria: null,
  resultDelivery: null,
  metadata: {},
  instance: '',
}

export function definitionToRow(task: TaskDefinition): RowOf<typeof DEFINITION_COLUMNS> {
  return {
    task_id: task.taskId,
    type: task.type,
    lane: task.lane,
    priority: task.priority,
    created_by_kind: task.createdBy.kind,
    created_by_id: task.createdBy.id,
    recipient_kind: task.recipient.kind,
    recipient_id: task.recipient.id,
    idempotency_hash: task.idempotencyHash,
    request_hash: task.requestHash,
    concurrency_key: task.concurrencyKey,
    concurrency_limit: task.concurrencyLimit,
    deadline_at: task.deadlineAt,
    created_at: task.createdAt,
    assigned_receipt_id: task.assignedReceiptId,
    payload: task.payload,
    definition: detailsOf(task),
  }
}

function detailsOf(task: TaskDefinition): JsonObject {
  const details: Record<string, unknown> = {}
  for (const name of Object.keys(BLANK) as (keyof Details)[]) {
    if (!isBlank(name, task[name])) details[name] = task[name]
  }
  return details
}

function isBlank(name: keyof Details, value: unknown): boolean {
  if (value === null || typeof value !== 'object') return value === BLANK[name]
  if (Array.isArray(value)) return value.length === 0
  return name === 'metadata' && Object.keys(value).length === 0
}

/** All that a task was made to depend on, from the JSON column alone. */
export function dependsOnFromRow({ definition }: Pick<DefinitionRow, 'definition'>): readonly string[] {
  const { dependsOn } = { ...BLANK, ...(JSON.parse(definition) as Partial<Details>) } // written by detailsOf
  return dependsOn
}

export function definitionFromRow(row: DefinitionRow): TaskDefinition {
  return {
    ...BLANK,
    ...(JSON.parse(row.definition) as Partial<Details>), // written by detailsOf
    taskId: row.task_id,
    type: row.type,
    lane: row.lane,
    priority: row.priority,
    createdBy: { kind: row.created_by_kind, id: row.created_by_id },
    recipient: { kind: row.recipient_kind, id: row.recipient_id },
    idempotencyHash: row.idempotency_hash,
    requestHash: row.request_hash,
    concurrencyKey: row.concurrency_key,
    concurrencyLimit: row.concurrency_limit,
    deadlineAt: row.deadline_at,
    createdAt: row.created_at,
    assignedReceiptId: row.assigned_receipt_id,
    payload: JSON.parse(row.payload) as JsonObject, // written from a JsonObject
  }
}
