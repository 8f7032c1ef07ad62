// What the registry says about tasks that are to be created: whether they may be, their defaults, and guidance for the reply.
import { GateError } from '@asyncgate/sdk'
import type { TypeRules } from '../engine/command.ts'
import type { JsonObject } from '../engine/model.ts'
import { keyOfType } from '../engine/type-limit.ts'
import type { TaskType } from '../store/task-types.ts'
import { type Check, checkPayloads } from './check.ts'
import type { TypeRegistry } from './registry.ts'

export interface Wanted {
  readonly type: string
  readonly payload: JsonObject
  readonly bytes: number
  /** Of its own. */
  readonly concurrencyKey: string | null
}

export interface Ruling {
  readonly rules: TypeRules
  readonly guidance: {
    readonly estimated_runtime_seconds?: number
    readonly poll_suggestion_seconds?: number
  }
}

/** One for each, in the order given. */
export async function ruleOn(
  tasks: readonly Wanted[],
  tenantId: string,
  registry: TypeRegistry,
): Promise<Ruling[]> {
  const asked = registry.isRegisteredOnly(tenantId)
  const found = together(tasks.map(({ type }) => registry.find(tenantId, type)))
  const isToCome = asked instanceof Promise || found instanceof Promise
  const [registeredOnly, types] = isToCome ? await Promise.all([asked, found]) : [asked, found]
  const checks: Check[] = []
  const refusals = tasks.map((task, index) => {
    const type = types[index] ?? null
    if (type === null) return registeredOnly ? notRegistered(task) : null
    return refusalBefore(task, type) ?? checkLater(task, type, { registry, checks })
  })
  const verdicts = checkPayloads(checks).values()
  return tasks.map((_task, index) => {
    const refusal = refusals[index]
    return rulingOf(
      types[index] ?? null,
      refusal === 'checked' ? (verdicts.next().value ?? null) : (refusal ?? null),
    )
  })
}

/** At once where all of them are known, as they nearly always are. */
function together<T>(values: readonly (T | Promise<T>)[]): readonly T[] | Promise<T[]> {
  const isToCome = values.some((value) => value instanceof Promise)
  return isToCome ? Promise.all(values) : (values as readonly T[]) // none of them is a promise
}

/** All payloads of a call are checked together, so that their time is bounded together. */
function checkLater(
  { type, payload, bytes }: Wanted,
  registered: TaskType,
  { registry, checks }: { registry: TypeRegistry; checks: Check[] },
): 'checked' | GateError | null {
  try {
    const schema = registry.schemaOf(registered)
    if (schema === null) return null
    checks.push({ type, payload, bytes, schema })
    return 'checked'
  } catch (error) {
    // It was fine when it was registered, by another version of this server.
    if (error instanceof GateError) return error
    throw error
  }
}

function refusalBefore(
  task: Wanted,
  { enabled, maxConcurrent, maxPayloadBytes }: TaskType,
): GateError | null {
  if (!enabled) return disabled(task)
  if (maxConcurrent !== null && task.concurrencyKey !== null) return twoLimits(task)
  if (maxPayloadBytes !== null && task.bytes > maxPayloadBytes) return tooLarge(task, maxPayloadBytes)
  return null
}

function rulingOf(type: TaskType | null, refusal: GateError | null): Ruling {
  const runtime = type?.estimatedRuntimeSeconds ?? null
  const poll = type?.pollSuggestionSeconds ?? null
  return {
    rules: {
      refusal,
      priority: type?.defaultPriority ?? null,
      maxAttempts: type?.defaultMaxAttempts ?? null,
      timeoutSeconds: type?.defaultTimeoutSeconds ?? null,
      resultChannel: type?.defaultResultChannel ?? null,
      concurrencyKey: type === null || type.maxConcurrent === null ? null : keyOfType(type.type),
    },
    guidance: {
      ...(runtime !== null && { estimated_runtime_seconds: runtime }),
      ...(poll !== null && { poll_suggestion_seconds: poll }),
    },
  }
}

function notRegistered({ type }: Wanted): GateError {
  const message = `Type "${type}" is not registered, and only registered types are accepted here. Choose one of list_task_types, or ask an administrator to register it.`
  return new GateError('invalid_input', message, { field: 'type' })
}

function disabled({ type }: Wanted): GateError {
  const message = `Type "${type}" is disabled: no new tasks of it are accepted. Choose another of list_task_types, or ask an administrator to enable it.`
  return new GateError('invalid_input', message, { field: 'type' })
}

function twoLimits({ type }: Wanted): GateError {
  const message = `Tasks of type "${type}" share the limit of their type (max_concurrent) and can have no concurrency_key beside it. Leave concurrency_key out.`
  return new GateError('invalid_input', message, { field: 'concurrency_key' })
}

function tooLarge({ type, bytes }: Wanted, limit: number): GateError {
  const message = `Field "payload" has ${bytes} bytes of JSON, the limit of type "${type}" is ${limit}. Store it elsewhere and send a pointer.`
  return new GateError('payload_too_large', message, { field: 'payload', bytes, limit })
}
