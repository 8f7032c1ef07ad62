// Claims: which of the tasks that fit are granted to a worker, and what a grant is.
import type { ClaimCommand } from '../command.ts'
import type { Outcome, View } from '../draft.ts'
import { bodyOf, fits } from '../ledger.ts'
import { type JsonObject, type Lease, type Receipt, SYSTEM, type Task } from '../model.ts'
import { nextStatus } from '../state-table.ts'
import { raise } from './anomaly.ts'
import { type Context, hasRoom, isPastDeadline, issueFor, withState } from './context.ts'
import { failAtDeadline } from './sweep.ts'

export interface Grant {
  readonly task: Task
  readonly lease: Lease
}

/** One candidate at a time, so that each grant counts against the limits of the next. */
export function decideCandidate(
  view: View,
  taskId: string,
  command: ClaimCommand,
  context: Context,
): Outcome | null {
  const task = view.task(taskId)
  if (task === undefined || task.state.status !== 'queued' || task.state.place !== 'ready') return null
  if (isPastDeadline(task, context.now)) return { ...failAtDeadline(context, task, undefined), reply: null }
  if (!hasRoom(view, task)) return { reply: null, tasks: [withState(task, context.now, { place: 'parked' })] }
  return grant(task, command, context)
}

/** How many more leases the worker and the tenant may have now. */
export function headroom(view: View, command: ClaimCommand, context: Context): number {
  const { maxTasks, maxConcurrentLeases } = context.policy.claim
  const worker =
    command.capacity === null ? Infinity : command.capacity - view.activeByWorker(command.worker.id)
  const tenant = maxConcurrentLeases === 0 ? Infinity : maxConcurrentLeases - view.activeOfTenant()
  return Math.max(0, Math.min(command.maxTasks, maxTasks, worker, tenant))
}

export function filterKeyOf({ filter }: ClaimCommand): string {
  return JSON.stringify([filter.capabilities, filter.acceptTypes, filter.preferredTypes])
}

function grant(before: Task, command: ClaimCommand, context: Context): Outcome {
  const { now } = context
  const task = withState(before, now, {
    status: nextStatus(before.state.status, 'claim')!,
    place: 'none',
    fence: before.state.fence + 1,
  })
  const lease = newLease(task, command, context)
  const accepted = issueFor(context, task, {
    receiptType: 'task.accepted',
    from: command.worker,
    to: SYSTEM,
    leaseId: lease.leaseId,
    receiptId: lease.leaseId,
    body: acceptedBody(task, command, context),
  })
  const granted: Grant = { task, lease }
  return {
    reply: granted,
    tasks: [task],
    leases: [lease],
    receipts: [accepted, ...suspicions(granted, context)],
  }
}

/** A worker with more capabilities than a receipt can hold is recorded with those that the task asked of it. */
function acceptedBody({ definition }: Task, { filter }: ClaimCommand, { policy }: Context): JsonObject {
  const body = bodyOf({ worker_capabilities: filter.capabilities })
  if (fits(body, policy)) return body
  const required = new Set(definition.capabilities.map((name) => name.toLowerCase()))
  return bodyOf({ worker_capabilities: filter.capabilities.filter((name) => required.has(name)) })
}

/** It bears the id of the receipt that records it: so whoever keeps the lease need not look for the receipt. */
function newLease(task: Task, command: ClaimCommand, context: Context): Lease {
  const { now, ids } = context
  const ttlMs = ttl(command.ttlSeconds, context)
  const expiresAt = Math.min(now + ttlMs, lastMoment(now, context))
  const timeoutAt =
    task.definition.timeoutSeconds === null ? null : now + task.definition.timeoutSeconds * 1_000
  return {
    leaseId: ids.next(now),
    taskId: task.definition.taskId,
    worker: command.worker,
    fence: task.state.fence,
    grantedAt: now,
    ttlMs,
    expiresAt,
    timeoutAt,
    checkAt: Math.min(expiresAt, timeoutAt ?? Infinity),
    renewals: 0,
    concurrencyKey: task.definition.concurrencyKey,
    endedAt: null,
    end: null,
    settlement: null,
  }
}

/** Where the configuration caps the life of a lease: its end, whatever was asked for. */
export function lastMoment(grantedAt: number, { policy }: Context): number {
  const { maxLifetimeSeconds } = policy.lease
  return maxLifetimeSeconds === 0 ? Infinity : grantedAt + maxLifetimeSeconds * 1_000
}

export function ttl(seconds: number | null, { policy }: Context): number {
  const { defaultTtlSeconds, minTtlSeconds, maxTtlSeconds } = policy.lease
  return Math.min(Math.max(seconds ?? defaultTtlSeconds, minTtlSeconds), maxTtlSeconds) * 1_000
}

/** No rule lets a task be queued with its attempts used up; if one is, somebody should know. */
function suspicions({ task, lease }: Grant, context: Context): Receipt[] {
  const { attempt } = task.state
  const { maxAttempts } = task.definition
  if (attempt < maxAttempts) return []
  return [
    raise(context, task, {
      kind: 'attempts_exhausted_queued',
      leaseId: lease.leaseId, // so that the next claim of the task is a fact of its own
      details: { attempt, max_attempts: maxAttempts },
      recommendedAction: 'Look at how the task was changed; no attempt is left for it.',
    }),
  ]
}
