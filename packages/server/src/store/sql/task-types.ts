// The registry of task types in SQL.
import type { TaskType, TaskTypeStore } from '../task-types.ts'
import type { Driver } from './session.ts'
import {
  deleteType,
  listTypes,
  putType,
  readRegisteredOnly,
  readType,
  setRegisteredOnly,
  type TaskTypeRow,
} from './statements/task-types.ts'
import { inTransaction } from './transact.ts'

export function createSqlTaskTypes(driver: Driver): TaskTypeStore {
  const { readerOf } = driver
  return {
    readType: async (tenantId, type) => typeFromRow(await readType(readerOf(tenantId), tenantId, type)),
    listTypes: async ({ tenantId, after, limit }) =>
      (await listTypes(readerOf(tenantId), { tenantId, after: after ?? '', limit })).map(toType),
    putType: (type) =>
      inTransaction({ driver, tenantId: type.tenantId }, async (tx) =>
        toType(await putType(tx, rowOf(type))),
      ),
    deleteType: (tenantId, type) =>
      inTransaction({ driver, tenantId }, async (tx) => typeFromRow(await deleteType(tx, tenantId, type))),
    readRegisteredOnly: (tenantId) => readRegisteredOnly(readerOf(tenantId), tenantId),
    setRegisteredOnly: (tenantId, registeredOnly) =>
      inTransaction({ driver, tenantId }, (tx) => setRegisteredOnly(tx, tenantId, registeredOnly)),
  }
}

function typeFromRow(row: TaskTypeRow | undefined): TaskType | null {
  return row === undefined ? null : toType(row)
}

function toType(row: TaskTypeRow): TaskType {
  return {
    tenantId: row.tenant_id,
    type: row.type,
    description: row.description,
    paramsSchema: row.params_schema,
    defaultPriority: row.default_priority,
    defaultMaxAttempts: row.default_max_attempts,
    defaultTimeoutSeconds: row.default_timeout_seconds,
    defaultRetentionDays: row.default_retention_days,
    defaultResultChannel: row.default_result_channel,
    estimatedRuntimeSeconds: row.estimated_runtime_seconds,
    pollSuggestionSeconds: row.poll_suggestion_seconds,
    maxPayloadBytes: row.max_payload_bytes,
    maxConcurrent: row.max_concurrent,
    enabled: Boolean(row.enabled),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

function rowOf(type: TaskType): TaskTypeRow {
  return {
    tenant_id: type.tenantId,
    type: type.type,
    description: type.description,
    params_schema: type.paramsSchema,
    default_priority: type.defaultPriority,
    default_max_attempts: type.defaultMaxAttempts,
    default_timeout_seconds: type.defaultTimeoutSeconds,
    default_retention_days: type.defaultRetentionDays,
    default_result_channel: type.defaultResultChannel,
    estimated_runtime_seconds: type.estimatedRuntimeSeconds,
    poll_suggestion_seconds: type.pollSuggestionSeconds,
    max_payload_bytes: type.maxPayloadBytes,
    max_concurrent: type.maxConcurrent,
    enabled: type.enabled,
    created_at: type.createdAt,
    updated_at: type.updatedAt,
  }
}
