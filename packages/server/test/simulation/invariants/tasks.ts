// What must be true of every task at every moment, judged by its receipts.
import { isTerminal } from '../../../src/engine/model.ts'
import type { TaskView } from '../../../src/store/port.ts'
import type { TaskEvidence } from '../evidence.ts'
import type { State } from '../state.ts'

export function* taskProblems({ tasks, evidence }: State): Generator<string> {
  const keys = new Map<string, string>()
  for (const task of tasks.values()) {
    const proof = evidence.of(task.definition.taskId)
    yield* leaseProblems(task, proof)
    yield* countProblems(task, proof)
    yield* outcomeProblems(task, proof)
    yield* originProblems(task, evidence.receipt(task.definition.assignedReceiptId)?.receiptType)
    yield* keyProblems(task, keys)
  }
}

function* leaseProblems({ definition, state, lease }: TaskView, proof: TaskEvidence): Generator<string> {
  const { taskId } = definition
  const held = state.status === 'leased' || state.status === 'running'
  if (held !== (lease !== null)) {
    yield `${taskId} is ${state.status} and ${lease === null ? 'has no' : 'has an'} active lease`
  }
  if (lease !== null && lease.fence !== state.fence) {
    yield `${taskId} has fence ${state.fence}, its lease ${lease.fence}`
  }
  if (state.fence !== proof.accepted.length) {
    yield `${taskId} has fence ${state.fence} after ${proof.accepted.length} grants`
  }
}

function* countProblems({ definition, state }: TaskView, proof: TaskEvidence): Generator<string> {
  const { taskId, maxAttempts, maxExpiries } = definition
  if (state.attempt !== proof.failures.length) {
    yield `${taskId} counts ${state.attempt} attempts, its receipts show ${proof.failures.length} failures`
  }
  if (state.expiries !== proof.expired.length) {
    yield `${taskId} counts ${state.expiries} expiries, its receipts show ${proof.expired.length}`
  }
  if (isTerminal(state.status)) return
  if (state.attempt >= maxAttempts) yield `${taskId} goes on with all ${maxAttempts} attempts used`
  if (maxExpiries > 0 && state.expiries > maxExpiries)
    yield `${taskId} goes on after ${state.expiries} expiries`
}

const END_OF = { succeeded: 'task.completed', failed: 'task.failed', canceled: 'task.canceled' }

function* outcomeProblems({ definition, state }: TaskView, proof: TaskEvidence): Generator<string> {
  const { taskId } = definition
  const ends = proof.ends.map((receipt) => receipt.receiptType)
  if (!isTerminal(state.status)) {
    if (ends.length > 0) yield `${taskId} is ${state.status} but its ledger has ${ends.join(', ')}`
    if (proof.resultReady.length > 0) yield `${taskId} is ${state.status} and has task.result_ready`
    if (state.result !== null || state.terminalReceiptId !== null)
      yield `${taskId} has a result before its end`
    return
  }
  if (ends.length !== 1) yield `${taskId} ended ${ends.length} times: ${ends.join(', ')}`
  if (ends[0] !== END_OF[state.status]) yield `${taskId} is ${state.status} by ${ends[0]}`
  if (state.terminalReceiptId !== proof.ends[0]?.receiptId) yield `${taskId} names another terminal receipt`
  if (state.result?.outcome !== state.status)
    yield `${taskId} is ${state.status}, its result ${state.result?.outcome}`
  if (proof.resultReady.length !== 1)
    yield `${taskId} ended with ${proof.resultReady.length} task.result_ready`
  const named = proof.resultReady[0]?.parents
  if (named?.length !== 1 || named[0] !== state.terminalReceiptId) {
    yield `task.result_ready of ${taskId} does not name its terminal receipt`
  }
  if (proof.attached.length > (state.status === 'succeeded' ? 1 : 0))
    yield `${taskId} was attached to too often`
}

function* originProblems({ definition }: TaskView, receiptType: string | undefined): Generator<string> {
  if (receiptType !== 'task.assigned') yield `${definition.taskId} has no task.assigned in the ledger`
}

/** Known task by task, so that two with one key are found wherever they were created. */
function* keyProblems({ definition }: TaskView, keys: Map<string, string>): Generator<string> {
  const { taskId, createdBy, idempotencyKey } = definition
  if (idempotencyKey === null) return
  const key = `${createdBy.kind}/${createdBy.id}/${idempotencyKey}`
  const other = keys.get(key)
  if (other !== undefined) yield `${taskId} and ${other} have the same idempotency key`
  keys.set(key, taskId)
}
