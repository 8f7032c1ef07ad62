// Keeping a lease: start, progress, renewal. None of these ends it.
import { GateError } from '@asyncgate/sdk'
import type { LeaseCommand } from '../command.ts'
import type { Outcome, View } from '../draft.ts'
import type { Lease, Receipt, Task } from '../model.ts'
import { RENEWALS_BEFORE_ANOMALY } from '../policy.ts'
import { nextStatus } from '../state-table.ts'
import { raise } from './anomaly.ts'
import { lastMoment, ttl } from './claim.ts'
import { type Context, heldLease, withState } from './context.ts'

type Of<K extends LeaseCommand['kind']> = Extract<LeaseCommand, { kind: K }>

export function decideStart(view: View, command: Of<'start'>, context: Context): Outcome {
  const { task, lease } = heldLease(view, command, context.now)
  const running = run(task, 'start', context)
  return { reply: { status: 'running', expiresAt: lease.expiresAt }, tasks: running }
}

export function decideProgress(view: View, command: Of<'progress'>, context: Context): Outcome {
  const { task, lease } = heldLease(view, command, context.now)
  const { taskId, worker, progress } = command
  return {
    reply: { expiresAt: lease.expiresAt },
    tasks: run(task, 'progress', context),
    progress: [{ taskId, workerId: worker.id, fence: lease.fence, reportedAt: context.now, progress }],
  }
}

export function decideRenew(view: View, command: Of<'renew'>, context: Context): Outcome {
  const { task, lease } = heldLease(view, command, context.now)
  nextStatus(task.state.status, 'renew')
  const extendMs = command.extendBySeconds === null ? lease.ttlMs : ttl(command.extendBySeconds, context)
  const expiresAt = withinCaps(lease, context.now + extendMs, context)
  const renewed = {
    ...lease,
    expiresAt,
    checkAt: Math.min(lease.checkAt, expiresAt),
    renewals: lease.renewals + 1,
  }
  return { reply: { expiresAt }, leases: [renewed], receipts: suspicions(task, renewed, context) }
}

/** Only the first of these changes the task; the others must not touch its row. */
function run(task: Task, move: 'start' | 'progress', context: Context): Task[] {
  const status = nextStatus(task.state.status, move)!
  if (status === task.state.status) return []
  return [withState(task, context.now, { status, startedAt: task.state.startedAt ?? context.now })]
}

function withinCaps(lease: Lease, wanted: number, context: Context): number {
  const { maxRenewals, maxLifetimeSeconds } = context.policy.lease
  const lastAt = lastMoment(lease.grantedAt, context)
  if ((maxRenewals > 0 && lease.renewals >= maxRenewals) || lease.expiresAt >= lastAt) {
    throw new GateError(
      'lease_renewal_limit',
      'This lease has reached the renewal limit of this server. Finish the work or release the task.',
      { renewals: lease.renewals, max_renewals: maxRenewals, max_lifetime_seconds: maxLifetimeSeconds },
    )
  }
  return Math.min(wanted, lastAt)
}

function suspicions(task: Task, lease: Lease, context: Context): Receipt[] {
  if (lease.renewals !== RENEWALS_BEFORE_ANOMALY + 1) return []
  return [
    raise(context, task, {
      kind: 'excessive_renewals',
      leaseId: lease.leaseId,
      details: { renewals: lease.renewals, worker_id: lease.worker.id },
      recommendedAction: 'See whether the worker still makes progress; cancel the task if it does not.',
    }),
  ]
}
