// What time does to tasks: lost leases, execution timeouts, deadlines. Found by a sweep, checked again here.
import { iso } from '../../clock.ts'
import type { SystemCommand } from '../command.ts'
import type { Outcome, View } from '../draft.ts'
import { bodyOf } from '../ledger.ts'
import { isActive, isAlive, type JsonObject, type Lease, type Receipt, SYSTEM, type Task } from '../model.ts'
import { EXPIRIES_BEFORE_ANOMALY } from '../policy.ts'
import { expiryJitterMs, retryDelayMs } from '../retry.ts'
import { nextStatus } from '../state-table.ts'
import { raise } from './anomaly.ts'
import { type Context, ended, isPastDeadline, issueFor, placeFor, withState } from './context.ts'
import { finish, systemError } from './finish.ts'

type Of<K extends SystemCommand['kind']> = Extract<SystemCommand, { kind: K }>

/** The lease may have been renewed or ended since the sweep saw it: then there is nothing to expire. */
export function decideExpire(view: View, command: Of<'expire'>, context: Context): Outcome {
  const task = view.task(command.taskId)
  const lease = view.lease(command.leaseId)
  if (task === undefined || lease === undefined || !isActive(lease)) return { reply: null }
  if (isPastDeadline(task, context.now)) return { ...failAtDeadline(context, task, lease), reply: 'deadline' }
  if (isAlive(lease, context.now)) return { reply: null, leases: lookAgain(lease) }
  // Whichever came first ended the execution: a lease that was lost before its timeout is not a failure, however late the
  // sweep.
  const timedOut = lease.timeoutAt !== null && lease.timeoutAt <= lease.expiresAt
  return timedOut ? timeOut(view, { task, lease }, context) : expire(view, { task, lease }, context)
}

export function decideDeadline(view: View, command: Of<'deadline'>, context: Context): Outcome {
  const firedTimers = [command]
  const task = view.task(command.taskId)
  if (task === undefined || nextStatus(task.state.status, 'deadline') === null)
    return { reply: null, firedTimers }
  if (!isPastDeadline(task, context.now)) return { reply: null }
  return {
    ...failAtDeadline(context, task, view.activeLease(command.taskId)),
    reply: 'deadline',
    firedTimers,
  }
}

/** Nothing, where another sweep has seen to it. */
function lookAgain(lease: Lease): Lease[] {
  const checkAt = Math.min(lease.expiresAt, lease.timeoutAt ?? Infinity)
  return checkAt === lease.checkAt ? [] : [{ ...lease, checkAt }]
}

type Held = { readonly task: Task; readonly lease: Lease }

function expire(view: View, { task, lease }: Held, context: Context): Outcome {
  const expiries = task.state.expiries + 1
  const { maxExpiries } = task.definition
  const poison = maxExpiries > 0 && expiries > maxExpiries
  const notices = [
    lostLease(context, { task, lease, expiries, requeued: !poison }),
    ...repeated(context, task, expiries),
  ]
  if (poison) return poisoned(context, { task, lease, expiries, notices })
  const nextEligibleAt =
    context.now + expiryJitterMs(context.policy.lease.requeueJitterSeconds, context.random)
  const queued = withState(task, context.now, {
    status: nextStatus(task.state.status, 'expire')!,
    place: placeFor(view, task, { eligibleAt: nextEligibleAt, now: context.now, leaving: 1 }),
    expiries,
    nextEligibleAt,
  })
  return {
    reply: 'expired',
    tasks: [queued],
    leases: [ended(lease, context.now, 'expired')],
    receipts: notices,
  }
}

function lostLease(
  context: Context,
  of: { task: Task; lease: Lease; expiries: number; requeued: boolean },
): Receipt {
  const { task, lease, expiries, requeued } = of
  return issueFor(context, task, {
    receiptType: 'lease.expired',
    from: SYSTEM,
    to: task.definition.createdBy,
    leaseId: lease.leaseId,
    body: bodyOf({
      task_id: task.definition.taskId,
      previous_worker_id: lease.worker.id,
      attempt: task.state.attempt,
      expiries,
      requeued,
    }),
  })
}

function repeated(context: Context, task: Task, expiries: number): Receipt[] {
  if (expiries !== EXPIRIES_BEFORE_ANOMALY + 1) return []
  return [
    raise(context, task, {
      kind: 'repeated_lease_expiry',
      details: { expiries, max_expiries: task.definition.maxExpiries },
      recommendedAction: 'Look at the workers: they lose this task. Cancel it if it makes them crash.',
    }),
  ]
}

function poisoned(
  context: Context,
  of: { task: Task; lease: Lease; expiries: number; notices: readonly Receipt[] },
): Outcome {
  const { task, lease, expiries, notices } = of
  const error = systemError(
    'lease_expired_too_often',
    `Its lease was lost ${expiries} times; it may crash its workers.`,
  )
  const ending = failBySystem(context, task, {
    error,
    expiries,
    attempt: task.state.attempt,
    deadLetter: true,
  })
  return {
    ...ending,
    reply: 'expired',
    leases: [ended(lease, context.now, 'expired')],
    receipts: [...notices, ...ending.receipts],
  }
}

/** A retryable failure of the attempt, in the system's words. */
function timeOut(view: View, { task, lease }: Held, context: Context): Outcome {
  const attempt = task.state.attempt + 1
  const { maxAttempts, retryBackoffSeconds, timeoutSeconds } = task.definition
  const error = systemError('execution_timeout', `The execution took longer than ${timeoutSeconds} s.`)
  const leases = [ended(lease, context.now, 'timed_out')]
  if (attempt >= maxAttempts) {
    const ending = failBySystem(context, task, {
      error,
      attempt,
      expiries: task.state.expiries,
      deadLetter: true,
    })
    return { ...ending, reply: 'timed_out', leases }
  }
  const delay = {
    attempt,
    backoffSeconds: retryBackoffSeconds,
    capSeconds: context.policy.retry.backoffCapSeconds,
  }
  const nextEligibleAt = context.now + retryDelayMs({ ...delay, retryAfterSeconds: null })
  const queued = withState(task, context.now, {
    status: nextStatus(task.state.status, 'retryLater')!,
    place: placeFor(view, task, { eligibleAt: nextEligibleAt, now: context.now, leaving: 1 }),
    attempt,
    nextEligibleAt,
  })
  const receipt = issueFor(context, task, {
    receiptType: 'task.retry_scheduled',
    from: SYSTEM,
    to: SYSTEM,
    leaseId: lease.leaseId,
    body: bodyOf({ error, attempt, max_attempts: maxAttempts, next_eligible_at: iso(nextEligibleAt) }),
  })
  return { reply: 'timed_out', tasks: [queued], leases, receipts: [receipt] }
}

export function failAtDeadline(context: Context, task: Task, lease: Lease | undefined) {
  const { deadlineAt } = task.definition
  const error = systemError(
    'deadline_exceeded',
    `It had not ended by its deadline, ${iso(deadlineAt ?? context.now)}.`,
  )
  const { attempt, expiries } = task.state
  const ending = failBySystem(context, task, { error, attempt, expiries, deadLetter: false })
  return { ...ending, leases: lease === undefined ? [] : [ended(lease, context.now, 'deadline')] }
}

function failBySystem(
  context: Context,
  task: Task,
  of: { error: JsonObject; attempt: number; expiries: number; deadLetter: boolean },
) {
  const receipt = issueFor(context, task, {
    receiptType: 'task.failed',
    from: SYSTEM,
    to: task.definition.recipient,
    body: bodyOf({ error: of.error, retry_recommended: of.deadLetter }),
  })
  const ending = {
    status: 'failed',
    result: null,
    artifacts: [],
    deliveryProof: null,
    receipt,
    ...of,
  } as const
  return finish(context, task, ending)
}
