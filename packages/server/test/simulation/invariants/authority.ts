// Who may act on a task: only the holder of its one live lease, by the clock of the instance, read under the lock. What is
// refused must have been refused rightly, too.
import type { LeaseCommand } from '../../../src/engine/command.ts'
import type { Result } from '../../../src/engine/decide/index.ts'
import type { Lease } from '../../../src/engine/model.ts'
import { pairs, type Transition } from './transition.ts'

const LEASE_COMMANDS = new Set(['start', 'progress', 'renew', 'release', 'complete', 'fail'])

export function* authorityProblems(transition: Transition): Generator<string> {
  const touched = new Set<string>()
  for (const { command, result } of pairs(transition)) {
    if (isLeaseCommand(command)) {
      if (result.ok) yield* allowedProblems(command, transition)
      else if (!touched.has(command.taskId)) yield* refusedProblems(command, result, transition)
    }
    if ('taskId' in command && command.taskId !== null) touched.add(command.taskId)
  }
  yield* endProblems(transition)
}

function isLeaseCommand(command: { kind: string }): command is LeaseCommand {
  return LEASE_COMMANDS.has(command.kind)
}

function* allowedProblems(command: LeaseCommand, transition: Transition): Generator<string> {
  const lease = transition.leases.get(command.leaseId)
  const what = `${command.kind} of ${command.taskId} by ${command.worker.id}`
  // A repetition is answered, not carried out; that its answer is the first one is checked with the repetitions.
  if (lease?.settlement?.action === command.kind) return
  if (lease === undefined) yield `${what} was allowed without a lease`
  else if (!isHolder(lease, command)) yield `${what} was allowed with somebody else's lease`
  else if (lease.endedAt !== null) yield `${what} was allowed with a lease that had ended (${lease.end})`
  else if (isDead(lease, transition)) yield `${what} was allowed after the lease had expired`
}

function* refusedProblems(
  command: LeaseCommand,
  result: Extract<Result, { ok: false }>,
  transition: Transition,
): Generator<string> {
  const lease = transition.leases.get(command.leaseId)
  if (result.error.code !== 'lease_invalid_or_expired' || lease === undefined) return
  const valid = isHolder(lease, command) && lease.endedAt === null && !isDead(lease, transition)
  if (valid) yield `${command.kind} of ${command.taskId} was refused to the holder of its live lease`
}

function isHolder(lease: Lease, command: LeaseCommand): boolean {
  return lease.taskId === command.taskId && lease.worker.id === command.worker.id
}

function isDead(lease: Lease, { before, instanceNow }: Transition): boolean {
  const { deadlineAt } = before.tasks.get(lease.taskId)!.definition
  return Math.min(lease.expiresAt, lease.timeoutAt ?? Infinity, deadlineAt ?? Infinity) <= instanceNow
}

/** What time has ended had really run out, under the lock and not only when a sweep saw it. */
function* endProblems({ changes, leases, before, instanceNow }: Transition): Generator<string> {
  for (const { leaseId, taskId, end } of changes.changedLeases) {
    const lease = leases.get(leaseId)
    if (lease === undefined || lease.endedAt !== null) continue
    const ranOut = {
      expired: lease.expiresAt,
      timed_out: lease.timeoutAt ?? Infinity,
      deadline: before.tasks.get(taskId)!.definition.deadlineAt ?? Infinity,
    }
    if ((end === 'expired' || end === 'timed_out' || end === 'deadline') && ranOut[end] > instanceNow) {
      yield `the lease of ${taskId} was ended (${end}) ${ranOut[end] - instanceNow} ms too early`
    }
  }
}
