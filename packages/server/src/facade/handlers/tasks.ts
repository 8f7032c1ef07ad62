// Handlers of those who hand work off.
import { iso } from '../../clock.ts'
import { mayTouch, noSuchTask } from '../../engine/decide/context.ts'
import { explain } from '../../engine/explain.ts'
import { jsonBytes } from '../../engine/ledger.ts'
import {
  isTerminal,
  type JsonObject,
  type Principal,
  type PrincipalKind,
  samePrincipal,
} from '../../engine/model.ts'
import { typeOfKey } from '../../engine/type-limit.ts'
import type { TaskView } from '../../store/port.ts'
import { type Ruling, ruleOn } from '../../task-type/ruling.ts'
import type { CallContext, Handlers } from '../handler.ts'
import { cutPage, decodeIdCursor, decodePosition, encodeCursor, pageLimit } from '../page.ts'
import { taskToWire } from '../view.ts'
import { millis, toCreations } from './new-task.ts'
import { actorOf, concerning, type HandlerParts, orNull } from './parts.ts'

type TaskHandlers = Pick<
  Handlers,
  | 'createTask'
  | 'createTasks'
  | 'getTask'
  | 'listTasks'
  | 'cancelTask'
  | 'retryTask'
  | 'explainTask'
  | 'getProgress'
  | 'attachArtifacts'
>

interface CreatedReply {
  readonly taskId: string
  readonly status: 'queued' | 'leased' | 'running' | 'succeeded' | 'failed' | 'canceled'
  readonly isDuplicate: boolean
  readonly receiptId: string
}

export function taskHandlers(parts: HandlerParts): TaskHandlers {
  const { engine, store, types, list, clock } = parts

  /** The task as this caller may see it, or the same answer as for a task that never was. */
  async function visible(taskId: string, context: CallContext): Promise<TaskView> {
    const task = await store.readTask(context.caller.tenantId, taskId)
    if (task === null || !(mayTouch(task, actorOf(context)) || isHolder(task, context.acting))) {
      throw noSuchTask(taskId)
    }
    return task
  }

  async function waitForEnd(taskId: string, waitSeconds: number, context: CallContext): Promise<TaskView> {
    const until = clock.now() + Math.min(waitSeconds, parts.claimWaitSecondsMax) * 1_000
    for (;;) {
      const task = await visible(taskId, context)
      const waitMs = until - clock.now()
      if (isTerminal(task.state.status) || waitMs <= 0 || context.signal.aborted) return task
      const { tenantId } = context.caller
      await engine.reads.untilWorthALook({ tenantId, taskId, waitMs, signal: context.signal })
    }
  }

  return {
    createTask: async (input, context) => {
      const [creation] = await toCreations([{ ok: true, value: input }], context, parts)
      if (!creation!.ok) throw creation!.error
      const { command, guidance } = creation!.value
      return createdToWire(await engine.run<CreatedReply>(context.caller.tenantId, command), guidance)
    },
    createTasks: async ({ tasks }, context) => {
      const wanted = await toCreations(tasks, context, parts)
      const commands = wanted.flatMap((item) => (item.ok ? [item.value.command] : []))
      const results = commands.length === 0 ? [] : await engine.execute(context.caller.tenantId, commands)
      const answers = results.values()
      return {
        tasks: wanted.map((item) => {
          if (!item.ok) return item.error.body()
          const result = answers.next().value!
          if (!result.ok) return result.error.body()
          return createdToWire(result.reply as CreatedReply, item.value.guidance)
        }),
      }
    },
    getTask: async ({ task_id, wait_seconds }, context) =>
      shown(await waitForEnd(task_id, wait_seconds, context), context),
    listTasks: async (input, context) => {
      const limit = pageLimit(input.limit, list)
      const rows = await store.listTasks({
        tenantId: context.caller.tenantId,
        status: orNull(input.status),
        type: orNull(input.type),
        createdBy: input.created_by === undefined ? null : principalFilter(input.created_by),
        concerning: concerning(context),
        deadLetter: orNull(input.dead_letter),
        tag: orNull(input.tag),
        createdFrom: millis(input.created_after),
        createdBefore: millis(input.created_before),
        before: decodeIdCursor('tasks', input.cursor),
        limit: limit + 1,
      })
      const { page, next } = cutPage(rows, limit, {
        cursorOf: (last) => encodeCursor('tasks', last.definition.taskId),
        bytesOf: ({ definition, state, progress }) =>
          jsonBytes([definition.payload, definition.metadata, state.result, progress]),
      })
      return { tasks: page.map((task) => shown(task, context)), next_cursor: next }
    },
    cancelTask: ({ task_id, reason }, context) =>
      engine.run(context.caller.tenantId, {
        kind: 'cancel',
        actor: actorOf(context),
        taskId: task_id,
        reason: orNull(reason),
      }),
    retryTask: async ({ task_id }, context) => {
      const { tenantId } = context.caller
      const task = await store.readTask(tenantId, task_id)
      if (task === null) throw noSuchTask(task_id)
      const { type, payload } = task.definition
      // It keeps a key of its own: what it was accepted with once is not held against it.
      const wanted = { type, payload, bytes: jsonBytes(payload), concurrencyKey: null }
      const [{ rules, guidance }] = (await ruleOn([wanted], tenantId, types)) as [Ruling] // one for each
      const command = { kind: 'retry' as const, actor: actorOf(context), taskId: task_id, rules }
      return createdToWire(await engine.run<CreatedReply>(tenantId, command), guidance)
    },
    explainTask: async ({ task_id }, context) => {
      const task = await visible(task_id, context)
      return {
        task_id,
        status: task.state.status,
        ...(await explained(asSeenBy(task, context), parts, context)),
      }
    },
    getProgress: async ({ task_id, limit: wanted, cursor }, context) => {
      await visible(task_id, context)
      const limit = pageLimit(wanted, list)
      const rows = await store.listProgress({
        tenantId: context.caller.tenantId,
        taskId: task_id,
        after: decodePosition('progress', cursor),
        limit: limit + 1,
      })
      const { page, next } = cutPage(rows, limit, {
        cursorOf: (last) => encodeCursor('progress', last.position),
        bytesOf: (report) => jsonBytes(report.progress),
      })
      return {
        progress: page.map(({ progress, workerId, fence, reportedAt }) => ({
          progress,
          worker_id: workerId,
          fence,
          reported_at: iso(reportedAt),
        })),
        next_cursor: next,
      }
    },
    attachArtifacts: async ({ task_id, artifacts }, context) => {
      const { receiptId } = await engine.run<{ receiptId: string }>(context.caller.tenantId, {
        kind: 'attach',
        actor: actorOf(context),
        taskId: task_id,
        artifacts,
      })
      return { ok: true, receipt_id: receiptId }
    },
  }
}

async function explained(task: TaskView, parts: HandlerParts, context: CallContext) {
  const { store, workers, clock, plans } = parts
  const { tenantId } = context.caller
  const { policy } = await plans.planOf(tenantId)
  const { dependsOn, concurrencyKey } = task.definition
  const dependencies = await Promise.all(dependsOn.map((taskId) => store.readTask(tenantId, taskId)))
  const limit = policy.claim.maxConcurrentLeases
  const { claimable, reasons } = explain(task, {
    now: clock.now(),
    obligationIsOpen: await endedButOpen(task, parts, tenantId),
    lease: task.lease,
    lastError: isInsider(task, context) ? await lastErrorOf(task, parts, tenantId) : null,
    dependencies: dependencies.flatMap((on) =>
      on === null ? [] : [{ taskId: on.definition.taskId, status: on.state.status }],
    ),
    activeUnderKey: concurrencyKey === null ? 0 : await store.countActive(tenantId, concurrencyKey),
    typeLimit: await limitOfType(typeOfKey(concurrencyKey), parts, tenantId),
    workers: workers.list(tenantId, clock.now()),
    tenantLeases: limit === 0 ? null : { active: await store.countActive(tenantId, null), limit },
  })
  return { claimable, reasons: [...reasons] }
}

async function endedButOpen({ definition, state }: TaskView, { store }: HandlerParts, tenantId: string) {
  if (!isTerminal(state.status)) return false
  return (await store.dischargedBy(tenantId, definition.assignedReceiptId)) === null
}

/** In its backoff a task has as many such receipts as it has failed attempts. */
async function lastErrorOf({ definition, state }: TaskView, { store }: HandlerParts, tenantId: string) {
  if (state.status !== 'queued' || state.attempt === 0) return null
  const scheduled = await store.listReceipts({
    tenantId,
    ...{ to: ANYBODY, from: ANYBODY, concerning: null, after: null },
    taskId: definition.taskId,
    receiptType: 'task.retry_scheduled',
    limit: state.attempt,
  })
  return (scheduled.at(-1)?.receipt.body['error'] ?? null) as JsonObject | null // as `fail` was given it
}

const ANYBODY = { kind: null, id: null }

async function limitOfType(type: string | null, { store }: HandlerParts, tenantId: string) {
  return type === null ? null : ((await store.readType(tenantId, type))?.maxConcurrent ?? null)
}

function asSeenBy(task: TaskView, context: CallContext): TaskView {
  return isInsider(task, context) ? task : { ...task, lease: null }
}

/** How the work goes is told to the owner, the holder and administrators; whoever is merely owed the outcome waits for that. */
function isInsider(task: TaskView, context: CallContext): boolean {
  const { principal, sees } = actorOf(context)
  const isOwner = samePrincipal(task.definition.createdBy, principal)
  return sees === 'all' || isOwner || isHolder(task, principal)
}

function shown(task: TaskView, context: CallContext) {
  return taskToWire(asSeenBy(task, context), context.acting)
}

function isHolder(task: TaskView, principal: Principal): boolean {
  return task.lease !== null && samePrincipal(task.lease.worker, principal)
}

function createdToWire(
  { taskId, status, isDuplicate, receiptId }: CreatedReply,
  guidance: Ruling['guidance'],
) {
  return {
    task_id: taskId,
    status,
    is_duplicate: isDuplicate,
    receipt_id: receiptId,
    ...guidance,
    inbox_on_complete: true,
  }
}

/** "agent/alice", or just an id of any kind. */
function principalFilter(text: string): { kind: PrincipalKind | null; id: string } {
  const match = /^(agent|worker|service|human|system)\/(.+)$/s.exec(text)
  return match === null ? { kind: null, id: text } : { kind: match[1] as PrincipalKind, id: match[2]! }
}
