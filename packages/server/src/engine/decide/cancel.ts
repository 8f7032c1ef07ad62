// Ends that come from outside the lease: cancellation, and dependencies that did not succeed.
import type { Command, SystemCommand } from '../command.ts'
import type { Outcome, View } from '../draft.ts'
import { bodyOf } from '../ledger.ts'
import { isTerminal } from '../model.ts'
import { nextStatus } from '../state-table.ts'
import { type Context, ended, issueFor, ownTask, placeFor, withState } from './context.ts'
import { dependencyFailed } from './create.ts'
import { finish, systemError } from './finish.ts'

export function decideCancel(
  view: View,
  command: Extract<Command, { kind: 'cancel' }>,
  context: Context,
): Outcome {
  const task = ownTask(view, command.taskId, command.actor)
  const status = nextStatus(task.state.status, 'cancel')
  if (status === null) return { reply: { ok: false, status: task.state.status } }
  const receipt = issueFor(context, task, {
    receiptType: 'task.canceled',
    from: command.actor.principal,
    to: task.definition.recipient,
    body: bodyOf({ reason: command.reason }),
  })
  const ending = finish(context, task, {
    status: 'canceled',
    result: null,
    error: systemError('canceled', command.reason ?? 'Canceled without a reason.'),
    artifacts: [],
    deliveryProof: null,
    deadLetter: false,
    attempt: task.state.attempt,
    expiries: task.state.expiries,
    receipt,
  })
  const lease = view.activeLease(command.taskId)
  const leases = lease === undefined ? [] : [ended(lease, context.now, 'canceled')]
  return { ...ending, leases, reply: { ok: true, status } }
}

/** A dependency ended: the dependent becomes eligible, waits on, or is canceled with it. */
export function decideResolve(
  view: View,
  command: Extract<SystemCommand, { kind: 'resolve' }>,
  context: Context,
): Outcome {
  const task = view.task(command.taskId)
  const settledDependents = [command.taskId]
  if (task === undefined || task.state.place !== 'waiting') return { reply: null, settledDependents }
  const dependencies = command.dependsOn.flatMap((taskId) => view.task(taskId) ?? [])
  const lost = dependencies.find((on) => isTerminal(on.state.status) && on.state.status !== 'succeeded')
  if (lost !== undefined && task.definition.onDependencyFailure === 'cancel') {
    return { ...dependencyFailed(context, task, lost), reply: 'canceled' }
  }
  if (dependencies.some((on) => !isTerminal(on.state.status))) return { reply: null }
  const nextEligibleAt = Math.max(task.state.nextEligibleAt, context.now)
  const place = placeFor(view, task, { eligibleAt: task.state.nextEligibleAt, now: context.now })
  return {
    reply: 'eligible',
    tasks: [withState(task, context.now, { place, nextEligibleAt })],
    settledDependents,
  }
}
