// A grant: of a queued task without a lease, at its time, after its dependencies, to a worker that fits, with the next fence.
import type { ClaimCommand } from '../../../src/engine/command.ts'
import type { Claimed } from '../../../src/engine/decide/index.ts'
import type { Lease } from '../../../src/engine/model.ts'
import type { TaskView } from '../../../src/store/port.ts'
import { unmetDependencies } from './places.ts'
import { pairs, type Transition } from './transition.ts'

export function* grantProblems(transition: Transition): Generator<string> {
  const claimers = claimersOf(transition)
  for (const lease of transition.changes.grantedLeases) {
    const task = transition.before.tasks.get(lease.taskId) ?? asCreated(lease.taskId, transition)
    const claimer = claimers.get(lease.leaseId)
    if (task === undefined) yield `${lease.taskId} was leased, but never created`
    else if (claimer === undefined) yield `${lease.taskId} was leased to nobody who asked`
    else yield* oneProblems(lease, { task, claimer, transition })
  }
}

/** A task may be leased in the commit that creates it, as if it had been queued for a moment. */
function asCreated(taskId: string, { changes }: Transition): TaskView | undefined {
  const task = changes.createdTasks.find(({ definition }) => definition.taskId === taskId)
  if (task === undefined) return undefined
  const { definition, state } = task
  return {
    definition,
    state: { ...state, status: 'queued', place: 'ready', fence: 0 },
    lease: null,
    progress: null,
  }
}

/** Lease → the claim that was answered with it. */
function claimersOf(transition: Transition): Map<string, ClaimCommand> {
  const claimers = new Map<string, ClaimCommand>()
  for (const { command, result } of pairs(transition)) {
    if (command.kind !== 'claim' || !result.ok) continue
    const { grants } = result.reply as Claimed // the reply of a claim
    for (const { lease } of grants) claimers.set(lease.leaseId, command)
  }
  return claimers
}

function* oneProblems(
  lease: Lease,
  of: { task: TaskView; claimer: ClaimCommand; transition: Transition },
): Generator<string> {
  const { task, claimer, transition } = of
  const { definition, state } = task
  const { taskId } = definition
  const earlier = [...transition.leases.values()].filter((other) => other.taskId === taskId)
  if (state.status !== 'queued') yield `${taskId} was leased while it was ${state.status}`
  if (earlier.some((other) => other.endedAt === null)) yield `${taskId} was leased under an active lease`
  if (lease.fence !== earlier.length + 1)
    yield `grant ${earlier.length + 1} of ${taskId} has fence ${lease.fence}`
  if (lease.worker.id !== claimer.worker.id)
    yield `${taskId} was leased to ${lease.worker.id}, who did not ask`
  if (!fits(definition, claimer)) yield `${taskId} does not fit the claim that got it`
  const early = state.nextEligibleAt - transition.trueNow - transition.skewMs
  if (early > 0) yield `${taskId} was leased ${early} ms before its time`
  const unmet = unmetDependencies(task, transition.before)
  if (unmet.length > 0) yield `${taskId} was leased before ${unmet.join(', ')}`
  if ((definition.deadlineAt ?? Infinity) <= transition.instanceNow)
    yield `${taskId} was leased after its deadline`
  const told = transition.changes.receipts.filter(
    (receipt) => receipt.receiptType === 'task.accepted' && receipt.leaseId === lease.leaseId,
  )
  if (told.length !== 1) yield `${taskId} was leased with ${told.length} task.accepted`
}

export function fits(definition: TaskView['definition'], { filter }: ClaimCommand): boolean {
  const able = definition.capabilities.every((name) => filter.capabilities.includes(name.toLowerCase()))
  return able && (filter.acceptTypes === null || filter.acceptTypes.includes(definition.type))
}
