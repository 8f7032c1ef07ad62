// Receipts that principals add themselves: artifacts after the fact, acknowledgements, types of their own.
import { GateError } from '@asyncgate/sdk'
import type { AttachCommand, Command, SubmitReceiptCommand, SystemCommand } from '../command.ts'
import type { Outcome, View } from '../draft.ts'
import { bodyOf, type Fact, hasLocator, isTerminalType, receiptHash, receiptKey } from '../ledger.ts'
import { type Receipt, samePrincipal, SYSTEM, type Task } from '../model.ts'
import { nextStatus } from '../state-table.ts'
import { raise } from './anomaly.ts'
import { type Context, issue, issueFor, knownTask, mayTouch, noSuchTask } from './context.ts'

/** A second, linked task.completed says where the result is, and so discharges the obligation. */
export function decideAttach(view: View, command: AttachCommand, context: Context): Outcome {
  const task = attachable(view, command)
  nextStatus(task.state.status, 'attach')
  if (!command.artifacts.some(hasLocator)) {
    throw new GateError(
      'locatability_required',
      'At least one artifact must say where it is: url, uri, pointer, path, key, row_id or file_id.',
    )
  }
  const receipt = issueFor(context, task, {
    receiptType: 'task.completed',
    from: command.actor.principal,
    to: task.definition.recipient,
    body: bodyOf({ result_summary: task.definition.summary, artifacts: command.artifacts }),
  })
  const winner = view.dischargedBy(task.definition.assignedReceiptId)
  if (winner === null) return { reply: { receiptId: receipt.receiptId }, receipts: [receipt] }
  if (winner !== undefined && view.receipt(winner)?.hash === receipt.hash)
    return { reply: { receiptId: winner } }
  throw new GateError(
    'invalid_transition',
    'The obligation of this task is already discharged. There is nothing left to attach.',
    { task_status: task.state.status, discharged_by: winner },
  )
}

/** The completing worker, the owner or recipient, or an administrator. */
function attachable(view: View, { taskId, actor }: AttachCommand): Task {
  const task = knownTask(view, taskId)
  const completed =
    task.state.terminalReceiptId === null ? undefined : view.receipt(task.state.terminalReceiptId)
  const byWorker = completed !== undefined && samePrincipal(completed.from, actor.principal)
  if (!byWorker && !mayTouch(task, actor)) throw noSuchTask(taskId)
  return task
}

export function decideAck(view: View, command: Extract<Command, { kind: 'ack' }>, context: Context): Outcome {
  const seen = view.receipt(command.receiptId)
  if (seen === undefined || !concerns(seen, command.actor)) throw noSuchReceipt(command.receiptId)
  const fact = ackFact(seen, command.actor.principal)
  const first = view.receiptByKey(receiptKey(fact, ''))
  if (first !== undefined) return { reply: { receiptId: first.receiptId } }
  const receipt = issue(context, fact)
  return { reply: { receiptId: receipt.receiptId }, receipts: [receipt] }
}

export function noSuchReceipt(receiptId: string): GateError {
  return new GateError('not_found', `No receipt ${receiptId}. Check the id, or list your receipts.`)
}

export function concerns(receipt: Receipt, actor: AttachCommand['actor']): boolean {
  const { principal, sees } = actor
  return sees === 'all' || samePrincipal(receipt.to, principal) || samePrincipal(receipt.from, principal)
}

/** Without the task's id, so that the key can be told before the receipt was read. */
function ackFact(seen: Pick<Receipt, 'receiptId'>, from: Fact['from']): Fact {
  return {
    receiptType: 'receipt.acknowledged',
    from,
    to: SYSTEM,
    taskId: null,
    leaseId: null,
    scheduleId: null,
    parents: [seen.receiptId],
    body: bodyOf({}),
  }
}

export function ackKey(command: Extract<Command, { kind: 'ack' }>): string {
  return receiptKey(ackFact(command, command.actor.principal), '')
}

export function decideSubmit(view: View, command: SubmitReceiptCommand, context: Context): Outcome {
  const fact = submittedFact(command)
  const hash = receiptHash(fact)
  const first = view.receiptByKey(receiptKey(fact, hash))
  if (first !== undefined) return { reply: { receiptId: first.receiptId, hash, isDuplicate: true } }
  if (command.taskId !== null) knownTask(view, command.taskId)
  assertParents(view, command)
  const receipt = issue(context, fact)
  return { reply: { receiptId: receipt.receiptId, hash, isDuplicate: false }, receipts: [receipt] }
}

export function submittedFact(command: SubmitReceiptCommand): Fact {
  const { receiptType, from, to, taskId, scheduleId, parents, body } = command
  return { receiptType, from, to, taskId, leaseId: null, scheduleId, parents, body: bodyOf(body) }
}

export function submittedKey(command: SubmitReceiptCommand): string {
  const fact = submittedFact(command)
  return receiptKey(fact, receiptHash(fact))
}

function assertParents(view: View, { receiptType, parents }: SubmitReceiptCommand): void {
  if (isTerminalType(receiptType) && parents.length === 0) {
    throw new GateError(
      'parents_required',
      `A ${receiptType} ends something: name the receipt it ends in parents.`,
    )
  }
  const missing = parents.find((parent) => view.receipt(parent) === undefined)
  if (missing !== undefined) {
    throw new GateError('parent_not_found', `Parent ${missing} does not exist. Check the id.`, {
      parent: missing,
    })
  }
}

const UNLINKABLE = 'work_done_but_unlinkable'

/** Two instances may have found the same timer: the second must find the first one's anomaly. */
export function unlinkableKey(command: Extract<SystemCommand, { kind: 'unlinkable' }>): string {
  const { taskId, assignedReceiptId } = command
  const about = { taskId, leaseId: null, scheduleId: null, parents: [assignedReceiptId] }
  return receiptKey(
    { receiptType: 'system.anomaly', from: SYSTEM, to: SYSTEM, ...about, body: { kind: UNLINKABLE } },
    '',
  )
}

/** A day after it succeeded, nothing says where the result is. */
export function decideUnlinkable(
  view: View,
  command: Extract<SystemCommand, { kind: 'unlinkable' }>,
  context: Context,
): Outcome {
  const { kind, taskId, assignedReceiptId } = command
  const firedTimers = [{ kind, taskId }]
  const task = view.task(taskId)
  const raised = view.receiptByKey(unlinkableKey(command)) !== undefined
  if (task === undefined || raised || view.dischargedBy(assignedReceiptId) !== null) {
    return { reply: null, firedTimers }
  }
  const receipt = raise(context, task, {
    kind: UNLINKABLE,
    details: {
      assigned_receipt_id: assignedReceiptId,
      completed_receipt_id: task.state.terminalReceiptId,
    },
    recommendedAction:
      'Find where the result is and call attach_artifacts; until then the obligation stays open.',
  })
  return { reply: 'raised', receipts: [receipt], firedTimers }
}
