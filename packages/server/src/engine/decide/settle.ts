// The worker's last word on a lease: complete, fail, release. Repeating it returns the first answer.
import { GateError } from '@asyncgate/sdk'
import { iso } from '../../clock.ts'
import type { CompleteCommand, FailCommand, LeaseCommand } from '../command.ts'
import type { Outcome, View } from '../draft.ts'
import {
  bodyOf,
  fits,
  hashOfJson,
  isLocated,
  receiptHash,
  SCHEMA_VERSION,
  storedArtifact,
  storedPointer,
} from '../ledger.ts'
import type { JsonObject, Lease, LeaseEnd, Receipt, Settlement, Task } from '../model.ts'
import { SYSTEM } from '../model.ts'
import { UNLINKABLE_AFTER_MS } from '../policy.ts'
import { retryDelayMs } from '../retry.ts'
import { nextStatus } from '../state-table.ts'
import { raise } from './anomaly.ts'
import {
  type Context,
  ended,
  factFor,
  heldLease,
  holds,
  issueFor,
  knownTask,
  placeFor,
  type TaskFact,
  withState,
} from './context.ts'
import { finish, howToRetrieve } from './finish.ts'

type SettleCommand = CompleteCommand | FailCommand | Extract<LeaseCommand, { kind: 'release' }>

export function decideSettle(view: View, command: SettleCommand, context: Context): Outcome {
  const first = firstAnswer(view, command)
  if (first !== null) return { reply: first }
  const held = heldLease(view, command, context.now)
  const outcome = settle(view, command, held, context)
  return { ...outcome, leases: [remember(held.lease, { command, outcome, now: context.now })] }
}

type Settled = Outcome & { readonly reply: JsonObject; readonly end: LeaseEnd }
type Held = { readonly task: Task; readonly lease: Lease }

function settle(view: View, command: SettleCommand, held: Held, context: Context): Settled {
  if (command.kind === 'complete') return complete(command, held, context)
  if (command.kind === 'fail') return fail(view, command, held, context)
  return release(view, held, context)
}

/** Everything in the command but who holds what: key order never makes another body. */
function requestHashOf(command: SettleCommand): string {
  return hashOfJson({
    ...command,
    worker: undefined,
    taskId: undefined,
    leaseId: undefined,
    bytes: undefined,
  })
}

function firstAnswer(view: View, command: SettleCommand): JsonObject | null {
  const lease = view.lease(command.leaseId)
  if (!lease?.settlement || !holds(lease, command)) return null
  const { settlement } = lease
  if (settlement.action !== command.kind) return null
  const task = knownTask(view, command.taskId)
  if (isRepeated(settlement, command, task)) return settlement.reply
  throw new GateError(
    'already_settled',
    `This lease was already settled by another ${command.kind}. The first one stands; there is nothing left to do.`,
    { receipt_id: settlement.receiptId, task_status: task.state.status },
  )
}

/** The same in every member, or a completion that would leave the same receipt, whatever may fit into one by now. */
function isRepeated({ requestHash }: Settlement, command: SettleCommand, task: Task): boolean {
  if (requestHash === requestHashOf(command)) return true
  if (command.kind !== 'complete' || namesOwnStore(command)) return false
  const { bodies, factWith } = completion(command, task)
  const hashWith = (body: JsonObject) => receiptHash(factFor(task, factWith(body)))
  return requestHash === hashWith(bodies.whole) || requestHash === hashWith(bodies.pointing())
}

function remember(lease: Lease, by: { command: SettleCommand; outcome: Settled; now: number }): Lease {
  const { command, outcome, now } = by
  const receipt = outcome.receipts?.[0]
  const settlement: Settlement = {
    action: command.kind,
    requestHash: receipt && saysAll(receipt, command) ? receipt.hash : requestHashOf(command),
    reply: outcome.reply,
    receiptId: receipt?.receiptId ?? null,
  }
  return { ...ended(lease, now, outcome.end), settlement }
}

/**
 * Whether its hash stands for all that the worker said: that need not be hashed again, for about one of the 60 µs that a drained task
 * takes. A completion's does, but for a result that is too large to be bound by it.
 */
function saysAll({ body }: Receipt, command: SettleCommand): boolean {
  const isBound = 'result_payload' in body || 'result_sha256' in body
  return command.kind === 'complete' && isBound && !namesOwnStore(command)
}

/** Whether it says by an artifact what `store_result` says: the receipts of the two are the same. */
function namesOwnStore({ artifacts, taskId }: CompleteCommand): boolean {
  return artifacts.some(({ pointer }) => pointer === storedPointer(taskId))
}

function complete(command: CompleteCommand, { task, lease }: Held, context: Context): Settled {
  const status = nextStatus(task.state.status, 'complete')!
  const { taskId } = task.definition
  const { artifacts, located, bodies, factWith } = completion(command, task)
  if (!located && context.policy.receipts.locatability === 'strict') throw unlocated()

  const receipt = issueFor(context, task, factWith(fitting(bodies, context)))
  const ending = finish(context, task, {
    status: 'succeeded',
    result: command.result,
    error: null,
    artifacts,
    deliveryProof: command.deliveryProof,
    deadLetter: false,
    attempt: task.state.attempt,
    expiries: task.state.expiries,
    grantedAt: lease.grantedAt,
    receipt,
    others: located ? [] : [missingLocation(context, task, receipt.receiptId)],
  })
  return {
    ...ending,
    end: 'completed',
    timers: located ? [] : [{ kind: 'unlinkable', taskId, dueAt: context.now + UNLINKABLE_AFTER_MS }],
    reply: { status, receiptId: receipt.receiptId },
  }
}

/** What a completion says of its task, with one of its bodies. */
function completion(command: CompleteCommand, task: Task) {
  const { taskId, assignedReceiptId, recipient } = task.definition
  const artifacts = command.storeResult ? [...command.artifacts, storedArtifact(taskId)] : command.artifacts
  const located = isLocated(artifacts, command.deliveryProof)
  const factWith = (body: JsonObject): TaskFact => ({
    receiptType: 'task.completed',
    from: command.worker,
    to: recipient,
    leaseId: command.leaseId,
    parents: located ? [assignedReceiptId] : [],
    body,
  })
  return { artifacts, located, bodies: completedBodies(command, task, artifacts), factWith }
}

/** With the result, with where it is and its hash, or with neither. */
function completedBodies(command: CompleteCommand, task: Task, artifacts: readonly JsonObject[]) {
  const bodyWith = (result: JsonObject): JsonObject => ({
    ...(artifacts.length > 0 ? { artifacts } : {}),
    ...(command.completionMetadata === null ? {} : { completion_metadata: command.completionMetadata }),
    ...(command.deliveryProof === null ? {} : { delivery_proof: command.deliveryProof }),
    ...result,
    result_summary: command.resultSummary,
    schema_version: SCHEMA_VERSION,
  })
  return {
    whole: bodyWith({ result_payload: command.result }),
    pointing: () =>
      bodyWith({ how_to_retrieve: howToRetrieve(task), result_sha256: hashOfJson(command.result) }),
    facts: () => bodyWith({}),
  }
}

function fitting(bodies: ReturnType<typeof completedBodies>, { policy }: Context): JsonObject {
  if (fits(bodies.whole, policy)) return bodies.whole
  const pointing = bodies.pointing()
  return fits(pointing, policy) ? pointing : bodies.facts()
}

function unlocated(): GateError {
  return new GateError(
    'locatability_required',
    'Say where the result is: an artifact with url, uri, pointer, path, key, row_id or file_id; a delivery_proof; or ' +
      'store_result: true. The lease is still yours.',
  )
}

function missingLocation(context: Context, task: Task, completedReceiptId: string) {
  return raise(context, task, {
    kind: 'locatability_missing',
    parents: [completedReceiptId],
    details: { original_parents: [task.definition.assignedReceiptId] },
    recommendedAction:
      'Call attach_artifacts with where the result is; until then the obligation stays open.',
  })
}

function fail(view: View, command: FailCommand, held: Held, context: Context): Settled {
  const attempt = held.task.state.attempt + 1
  const exhausted = attempt >= held.task.definition.maxAttempts
  if (command.retryable && !exhausted) return retryLater(view, command, { ...held, attempt }, context)
  return failForGood(command, { ...held, attempt, exhausted }, context)
}

function retryLater(
  view: View,
  command: FailCommand,
  of: Held & { attempt: number },
  context: Context,
): Settled {
  const { task, lease, attempt } = of
  const { retryBackoffSeconds, maxAttempts } = task.definition
  const nextEligibleAt =
    context.now +
    retryDelayMs({
      attempt,
      backoffSeconds: retryBackoffSeconds,
      capSeconds: context.policy.retry.backoffCapSeconds,
      retryAfterSeconds: command.retryAfterSeconds,
    })
  const queued = withState(task, context.now, {
    status: nextStatus(task.state.status, 'retryLater')!,
    place: placeFor(view, task, { eligibleAt: nextEligibleAt, now: context.now, leaving: 1 }),
    attempt,
    nextEligibleAt,
  })
  const receipt = issueFor(context, task, {
    receiptType: 'task.retry_scheduled',
    from: command.worker,
    to: SYSTEM,
    leaseId: lease.leaseId,
    body: bodyOf({
      error: command.error,
      attempt,
      max_attempts: maxAttempts,
      next_eligible_at: iso(nextEligibleAt),
    }),
  })
  return { reply: { requeued: true, nextEligibleAt }, end: 'failed', tasks: [queued], receipts: [receipt] }
}

function failForGood(
  command: FailCommand,
  of: Held & { attempt: number; exhausted: boolean },
  context: Context,
): Settled {
  const { task, lease, attempt, exhausted } = of
  nextStatus(task.state.status, 'failForGood')
  const receipt = issueFor(context, task, {
    receiptType: 'task.failed',
    from: command.worker,
    to: task.definition.recipient,
    leaseId: lease.leaseId,
    body: bodyOf({ error: command.error, retry_recommended: command.retryable }),
  })
  const ending = finish(context, task, {
    status: 'failed',
    result: null,
    error: command.error,
    artifacts: [],
    deliveryProof: null,
    deadLetter: exhausted,
    attempt,
    expiries: task.state.expiries,
    grantedAt: lease.grantedAt,
    receipt,
  })
  return { ...ending, end: 'failed', reply: { requeued: false } }
}

function release(view: View, { task }: Held, context: Context): Settled {
  const status = nextStatus(task.state.status, 'release')!
  const nextEligibleAt = context.now
  const place = placeFor(view, task, { eligibleAt: nextEligibleAt, now: context.now, leaving: 1 })
  return {
    reply: { status },
    end: 'released',
    tasks: [withState(task, context.now, { status, place, nextEligibleAt })],
  }
}
