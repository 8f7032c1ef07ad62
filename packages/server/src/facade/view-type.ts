// A registered task type as the wire shows it.
import type { GateContract, Output } from '@asyncgate/sdk'
import { iso } from '../clock.ts'
import type { TaskType } from '../store/task-types.ts'

type WireType = Output<GateContract['getTaskType']>

export function typeToWire(type: TaskType): WireType {
  return {
    task_type: type.type,
    description: type.description,
    params_schema:
      type.paramsSchema === null ? null : (JSON.parse(type.paramsSchema) as WireType['params_schema']), // as it came in
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
    created_at: iso(type.createdAt),
    updated_at: iso(type.updatedAt),
  }
}
