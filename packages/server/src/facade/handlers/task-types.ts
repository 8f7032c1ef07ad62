// Handlers of the registry of task types.
import { GateError } from '@asyncgate/sdk'
import { keyOfType } from '../../engine/type-limit.ts'
import type { TaskType } from '../../store/task-types.ts'
import type { Handlers } from '../handler.ts'
import { cutPage, decodeTypeCursor, encodeCursor, pageLimit } from '../page.ts'
import { typeToWire } from '../view-type.ts'
import { type HandlerParts, orNull } from './parts.ts'

type TaskTypeHandlers = Pick<
  Handlers,
  'putTaskType' | 'listTaskTypes' | 'getTaskType' | 'deleteTaskType' | 'setRegisteredOnly'
>

export function taskTypeHandlers({ engine, store, types, list, clock }: HandlerParts): TaskTypeHandlers {
  /** What was parked under the old limit need not wait for the next lease to end. */
  const refill = (tenantId: string, type: string) =>
    engine.run(tenantId, { kind: 'refill', concurrencyKey: keyOfType(type) })

  return {
    putTaskType: async (input, { caller: { tenantId } }) => {
      const now = clock.now()
      const wanted: TaskType = {
        tenantId,
        type: input.task_type,
        ...settingsOf(input),
        createdAt: now,
        updatedAt: now,
      }
      types.schemaOf(wanted) // refuses one that cannot be used
      const type = await types.put(wanted)
      await refill(tenantId, type.type)
      return typeToWire(type)
    },
    listTaskTypes: async (input, { caller: { tenantId } }) => {
      const limit = pageLimit(input.limit, list)
      const after = decodeTypeCursor(input.cursor)
      const [rows, registeredOnly] = await Promise.all([
        store.listTypes({ tenantId, after, limit: limit + 1 }),
        store.readRegisteredOnly(tenantId),
      ])
      const { page, next } = cutPage(rows, limit, { cursorOf: (last) => encodeCursor('types', last.type) })
      return { types: page.map(typeToWire), registered_only: registeredOnly, next_cursor: next }
    },
    getTaskType: async ({ task_type }, { caller: { tenantId } }) => {
      const type = await store.readType(tenantId, task_type)
      if (type === null) throw noSuchType(task_type)
      return typeToWire(type)
    },
    deleteTaskType: async ({ task_type }, { caller: { tenantId } }) => {
      const type = await types.delete(tenantId, task_type)
      if (type === null) throw noSuchType(task_type)
      await refill(tenantId, task_type)
      return typeToWire(type)
    },
    setRegisteredOnly: async ({ registered_only: registeredOnly }, { caller: { tenantId } }) => {
      await types.setRegisteredOnly(tenantId, registeredOnly)
      return { registered_only: registeredOnly }
    },
  }
}

function settingsOf(input: Parameters<Handlers['putTaskType']>[0]) {
  return {
    description: orNull(input.description),
    paramsSchema: input.params_schema === undefined ? null : JSON.stringify(input.params_schema),
    defaultPriority: orNull(input.default_priority),
    defaultMaxAttempts: orNull(input.default_max_attempts),
    defaultTimeoutSeconds: orNull(input.default_timeout_seconds),
    defaultRetentionDays: orNull(input.default_retention_days),
    defaultResultChannel: orNull(input.default_result_channel),
    estimatedRuntimeSeconds: orNull(input.estimated_runtime_seconds),
    pollSuggestionSeconds: orNull(input.poll_suggestion_seconds),
    maxPayloadBytes: orNull(input.max_payload_bytes),
    maxConcurrent: orNull(input.max_concurrent),
    enabled: input.enabled,
  }
}

function noSuchType(type: string): GateError {
  return new GateError('not_found', `No type ${type} is registered. Check the name, or list the types.`)
}
