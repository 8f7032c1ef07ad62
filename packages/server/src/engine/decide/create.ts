// Creation: a task, its task.assigned receipt, and with it an open obligation. Redriving is a creation too.
import { GateError } from '@asyncgate/sdk'
import { iso } from '../../clock.ts'
import type { Actor, Command, NewTask, TypeRules } from '../command.ts'
import type { Outcome, View } from '../draft.ts'
import { bodyOf, hashOfJson, SCHEMA_VERSION } from '../ledger.ts'
import {
  isTerminal,
  type Place,
  type Receipt,
  samePrincipal,
  SYSTEM,
  type Task,
  type TaskDefinition,
  type Timer,
  type Json,
} from '../model.ts'
import { nextStatus } from '../state-table.ts'
import { typeOfKey } from '../type-limit.ts'
import { type Context, issueFor, ownTask, placeFor } from './context.ts'
import { finish, systemError } from './finish.ts'

export function decideCreate(
  view: View,
  command: Extract<Command, { kind: 'create' }>,
  context: Context,
): Outcome {
  const { task, rules = NO_RULES } = command
  const key = requestKey(task, task.idempotencyKey === null ? null : idempotencyHash(task))
  const first = repeated(view, key)
  if (first !== null) return first
  if (rules.refusal !== null) throw rules.refusal
  assertReferences(view, task)
  return create(view, task, { key, rules }, context)
}

/** The failed task stays as it was. Repeating the call finds the task that the first call made. */
export function decideRetry(
  view: View,
  command: Extract<Command, { kind: 'retry' }>,
  context: Context,
): Outcome {
  const { definition, state } = ownTask(view, command.taskId, command.actor)
  assertOwner(definition, command.actor)
  nextStatus(state.status, 'redrive')
  const again: NewTask = {
    ...definition,
    idempotencyKey: null,
    causedByReceiptId: state.terminalReceiptId,
    delaySeconds: null,
    notBefore: null,
    deadlineAt: null,
    dependsOn: [],
  }
  // What the failed task referred to existed then, and its terminal receipt does.
  const key = requestKey(again, redriveHash(command.taskId))
  const first = repeated(view, key)
  if (first !== null) return first
  const { rules = NO_RULES } = command
  if (rules.refusal !== null) throw rules.refusal
  return create(view, again, { key, rules }, context)
}

const NO_RULES: TypeRules = {
  refusal: null,
  priority: null,
  maxAttempts: null,
  timeoutSeconds: null,
  resultChannel: null,
  concurrencyKey: null,
}

/** The new task is the owner's: whoever is merely owed the outcome may not make it. */
function assertOwner({ createdBy }: TaskDefinition, actor: Actor): void {
  if (actor.sees === 'all' || samePrincipal(createdBy, actor.principal)) return
  const message = 'Only the owner of a task or an administrator may redrive it. Ask its owner.'
  throw new GateError('forbidden', message, { required_role: 'admin' })
}

export function idempotencyHash(task: Pick<NewTask, 'createdBy' | 'idempotencyKey'>): string {
  return hashOfJson([task.createdBy.kind, task.createdBy.id, task.idempotencyKey])
}

export function redriveHash(taskId: string): string {
  return hashOfJson(['redrive', taskId])
}

/**
 * Without what was not said: a field that a later version adds must not make another body of the same request, nor must a
 * default of its type that has changed since. A priority that was not said was 0 before types had one.
 */
function requestHashOf(wanted: NewTask): string {
  const said = Object.entries(wanted).filter(([, value]) => value !== null)
  return hashOfJson({ priority: 0, ...Object.fromEntries(said) })
}

export function laneOf(capabilities: readonly string[]): string {
  if (capabilities.length === 0) return ''
  const required = [...new Set(capabilities.map((capability) => capability.toLowerCase()))].toSorted()
  // Hashed, since a set of a hundred long names would not fit into an index entry.
  return hashOfJson(required).slice(0, 32)
}

type RequestKey = Pick<TaskDefinition, 'idempotencyHash' | 'requestHash'>

function requestKey(wanted: NewTask, hash: string | null): RequestKey {
  return { idempotencyHash: hash, requestHash: hash === null ? null : requestHashOf(wanted) }
}

interface Basis {
  readonly key: RequestKey
  readonly rules: TypeRules
}

function create(view: View, wanted: NewTask, basis: Basis, context: Context): Outcome {
  assertRoom(view, context)
  const definition = define(wanted, basis, context)
  const eligibleAt = eligibility(wanted, context.now)
  const blocked = wanted.dependsOn.map((id) => view.task(id)!).filter((on) => on.state.status !== 'succeeded')
  const failed =
    wanted.onDependencyFailure === 'run' ? [] : blocked.filter((on) => isTerminal(on.state.status))
  const waiting = blocked.filter((on) => !isTerminal(on.state.status))
  const place: Place =
    waiting.length > 0 ? 'waiting' : placeFor(view, { definition }, { eligibleAt, now: context.now })
  const task: Task = { definition, state: newState(place, eligibleAt, context.now) }
  const assigned = assign(context, task)
  const reply = created(task, false)
  if (failed.length > 0) return stillborn(context, { task, assigned, on: failed[0]! })
  return {
    reply,
    tasks: [task, ...waiting.map(markAwaited)],
    receipts: [assigned],
    timers: deadlineTimer(definition),
    dependencies: waiting.map((on) => ({ taskId: definition.taskId, dependsOn: on.definition.taskId })),
  }
}

/** LIM-2: what was created stays; a repetition of it is answered as before. */
function assertRoom(view: View, { policy }: Context): void {
  const { maxActive } = policy.task
  if (maxActive === 0 || view.activeTasks() < maxActive) return
  const message = `The tenant has ${view.activeTasks()} active tasks and may have ${maxActive}. Wait until some have ended, or cancel some.`
  throw new GateError('quota_exceeded', message, { quota: 'active_tasks', limit: maxActive })
}

function repeated(view: View, { idempotencyHash: hash, requestHash }: RequestKey): Outcome | null {
  const first = hash === null ? undefined : view.idempotent(hash)
  if (first === undefined) return null
  if (first.definition.requestHash !== requestHash) {
    throw new GateError(
      'idempotency_conflict',
      'This idempotency_key was used with another body. Use a new key, or send the first body again.',
      { task_id: first.definition.taskId },
    )
  }
  return { reply: created(first, true) }
}

function created(task: Task, isDuplicate: boolean) {
  return {
    taskId: task.definition.taskId,
    status: task.state.status,
    isDuplicate,
    receiptId: task.definition.assignedReceiptId,
  }
}

/** What a task refers to must exist in its tenant; so a cycle of dependencies cannot be written down. */
function assertReferences(view: View, wanted: NewTask): void {
  const missing = wanted.dependsOn.find((taskId) => view.task(taskId) === undefined)
  if (missing !== undefined) {
    throw new GateError(
      'not_found',
      `depends_on names task ${missing}, which does not exist. Create it first.`,
    )
  }
  if (wanted.parentTaskId !== null && view.task(wanted.parentTaskId) === undefined) {
    throw new GateError('not_found', `parent_task_id ${wanted.parentTaskId} does not exist. Check the id.`)
  }
  if (wanted.causedByReceiptId !== null && view.receipt(wanted.causedByReceiptId) === undefined) {
    throw new GateError(
      'parent_not_found',
      `caused_by_receipt_id ${wanted.causedByReceiptId} does not exist.`,
    )
  }
}

function define(wanted: NewTask, { key, rules }: Basis, context: Context): TaskDefinition {
  const { policy, ids, now, instance } = context
  return {
    taskId: ids.next(now),
    type: wanted.type,
    payload: wanted.payload,
    payloadPointer: wanted.payloadPointer,
    summary: wanted.summary,
    createdBy: wanted.createdBy,
    recipient: wanted.recipient,
    capabilities: wanted.capabilities,
    tags: wanted.tags,
    lane: laneOf(wanted.capabilities),
    priority: wanted.priority ?? rules.priority ?? 0,
    maxAttempts: wanted.maxAttempts ?? rules.maxAttempts ?? policy.retry.maxAttempts,
    retryBackoffSeconds: wanted.retryBackoffSeconds ?? policy.retry.backoffSeconds,
    maxExpiries: wanted.maxExpiries ?? policy.retry.maxExpiries,
    idempotencyKey: wanted.idempotencyKey,
    ...key,
    parentTaskId: wanted.parentTaskId,
    causedByReceiptId: wanted.causedByReceiptId,
    ...concurrencyOf(wanted, rules),
    timeoutSeconds: wanted.timeoutSeconds ?? rules.timeoutSeconds,
    deadlineAt: wanted.deadlineAt,
    dependsOn: wanted.dependsOn,
    onDependencyFailure: wanted.onDependencyFailure,
    expectedOutcomeKind: wanted.expectedOutcomeKind,
    expectedArtifactMime: wanted.expectedArtifactMime,
    successCriteria: wanted.successCriteria,
    resultDelivery: deliveryOf(wanted.resultDelivery, rules.resultChannel),
    metadata: wanted.metadata,
    createdAt: now,
    assignedReceiptId: ids.next(now),
    instance,
  }
}

/** What was agreed on is part of the contract, so the default of a type is written down with it. */
function deliveryOf(asked: Json, channel: string | null): Json {
  if (channel === null) return asked
  if (asked === null) return { channel }
  const isOpen = typeof asked === 'object' && !Array.isArray(asked) && !('channel' in asked)
  return isOpen ? { ...asked, channel } : asked
}

/** Under the key of a type the limit is that of the type: the one written here is never asked. */
function concurrencyOf(
  { concurrencyKey, concurrencyLimit }: NewTask,
  rules: TypeRules,
): Pick<TaskDefinition, 'concurrencyKey' | 'concurrencyLimit'> {
  const own = typeOfKey(concurrencyKey) === null ? concurrencyKey : null
  if (own !== null) return { concurrencyKey: own, concurrencyLimit: concurrencyLimit ?? 1 }
  return { concurrencyKey: rules.concurrencyKey, concurrencyLimit: rules.concurrencyKey === null ? null : 1 }
}

function eligibility(wanted: NewTask, now: number): number {
  return Math.max(now, now + (wanted.delaySeconds ?? 0) * 1_000, wanted.notBefore ?? 0)
}

function newState(place: Place, nextEligibleAt: number, now: number): Task['state'] {
  return {
    status: 'queued',
    place,
    attempt: 0,
    expiries: 0,
    fence: 0,
    nextEligibleAt,
    updatedAt: now,
    startedAt: null,
    completedAt: null,
    deadLetter: false,
    hasDependents: false,
    terminalReceiptId: null,
    result: null,
  }
}

/** The contract: what is to be done and by what measure. The payload is bound by its hash, not copied. */
function assign(context: Context, task: Task): Receipt {
  const { definition } = task
  return issueFor(context, task, {
    receiptId: definition.assignedReceiptId,
    receiptType: 'task.assigned',
    from: definition.createdBy,
    to: definition.recipient,
    parents: definition.causedByReceiptId === null ? [] : [definition.causedByReceiptId],
    body: {
      instructions: {
        payload_pointer: definition.payloadPointer,
        payload_sha256: hashOfJson(definition.payload),
        summary: definition.summary,
        type: definition.type,
      },
      requirements: { capabilities: definition.capabilities, tags: definition.tags },
      ...(definition.resultDelivery === null ? {} : { result_delivery: definition.resultDelivery }),
      schema_version: SCHEMA_VERSION,
      ...(definition.successCriteria === null ? {} : { success_criteria: definition.successCriteria }),
      timeouts: {
        deadline_at: definition.deadlineAt === null ? null : iso(definition.deadlineAt),
        timeout_seconds: definition.timeoutSeconds,
      },
    },
  })
}

function deadlineTimer(definition: TaskDefinition): Timer[] {
  const { deadlineAt, taskId } = definition
  return deadlineAt === null ? [] : [{ kind: 'deadline', taskId, dueAt: deadlineAt }]
}

/** Its end must find its dependents. */
function markAwaited(on: Task): Task {
  return on.state.hasDependents ? on : { ...on, state: { ...on.state, hasDependents: true } }
}

/** A dependency had already ended badly: the task is recorded and canceled in the same breath. */
function stillborn(context: Context, of: { task: Task; assigned: Receipt; on: Task }): Outcome {
  const ending = dependencyFailed(context, of.task, of.on)
  return {
    ...ending,
    reply: created(ending.tasks[0], false),
    receipts: [of.assigned, ...ending.receipts],
  }
}

export function dependencyFailed(context: Context, task: Task, on: Task) {
  const reason = 'dependency_failed'
  const facts = { dependency: on.definition.taskId, dependency_status: on.state.status }
  const receipt = issueFor(context, task, {
    receiptType: 'task.canceled',
    from: SYSTEM,
    to: task.definition.recipient,
    body: bodyOf({ reason, ...facts }),
  })
  const message = `It depends on task ${facts.dependency}, which ended ${facts.dependency_status}.`
  return finish(context, task, {
    status: 'canceled',
    result: null,
    error: { ...systemError(reason, message), ...facts },
    artifacts: [],
    deliveryProof: null,
    deadLetter: false,
    attempt: task.state.attempt,
    expiries: task.state.expiries,
    receipt,
  })
}
