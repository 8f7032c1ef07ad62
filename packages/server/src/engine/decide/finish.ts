// How a task ends, whoever ends it: its last state, its terminal receipt and the one task.result_ready.
import type { Outcome } from '../draft.ts'
import { bodyOf, fits, SCHEMA_VERSION } from '../ledger.ts'
import { type Json, type JsonObject, type Receipt, SYSTEM, type Task, type TerminalStatus } from '../model.ts'
import { type Context, issueFor, withState } from './context.ts'

export interface Ending {
  readonly status: TerminalStatus
  readonly result: Json
  readonly error: Json
  readonly artifacts: readonly JsonObject[]
  readonly deliveryProof: JsonObject | null
  readonly deadLetter: boolean
  readonly attempt: number
  readonly expiries: number
  /** When the execution that ended it began, for a task that never said it was running. */
  readonly grantedAt?: number
  /** The terminal receipt, and any that go with it. */
  readonly receipt: Receipt
  readonly others?: readonly Receipt[]
}

export type Finished = Omit<Outcome, 'reply'> & {
  readonly tasks: readonly [Task]
  readonly receipts: readonly Receipt[]
}

/** The caller ends the lease, if there is one. */
export function finish(context: Context, task: Task, ending: Ending): Finished {
  const { now } = context
  const { taskId } = task.definition
  const after = withState(task, now, {
    status: ending.status,
    place: 'none',
    attempt: ending.attempt,
    expiries: ending.expiries,
    deadLetter: ending.deadLetter,
    startedAt: task.state.startedAt ?? ending.grantedAt ?? null,
    completedAt: now,
    terminalReceiptId: ending.receipt.receiptId,
    result: {
      outcome: ending.status,
      result: ending.result,
      error: ending.error,
      artifacts: ending.artifacts,
      deliveryProof: ending.deliveryProof,
      completedAt: now,
    },
  })
  return {
    tasks: [after],
    // One right after the other: who has found a task's end in the ledger has found both.
    receipts: [ending.receipt, resultReady(context, task, ending), ...(ending.others ?? [])],
    endedDependencies: task.state.hasDependents ? [taskId] : [],
    settledDependents: task.definition.dependsOn.length > 0 ? [taskId] : [],
  }
}

/** Addressed to whoever is owed the outcome; what is too large for a contract stays with the task. */
function resultReady(context: Context, task: Task, ending: Ending): Receipt {
  return issueFor(context, task, {
    receiptType: 'task.result_ready',
    from: SYSTEM,
    to: task.definition.recipient,
    parents: [ending.receipt.receiptId],
    body: readyBody(context, task, ending),
  })
}

function readyBody({ policy }: Context, task: Task, ending: Ending): JsonObject {
  const { status } = ending
  const how_to_retrieve = howToRetrieve(task)
  const artifacts = ending.artifacts.length > 0 ? { artifacts: ending.artifacts } : {}
  const whole = {
    ...artifacts,
    ...(status === 'succeeded' ? {} : { error: ending.error }),
    how_to_retrieve,
    ...(status === 'succeeded' ? { result_payload: ending.result } : {}),
    schema_version: SCHEMA_VERSION,
    status,
  }
  if (fits(whole, policy)) return whole
  const located = bodyOf({ status, how_to_retrieve, ...artifacts })
  return fits(located, policy) ? located : bodyOf({ status, how_to_retrieve })
}

export function howToRetrieve(task: Task): JsonObject {
  return { field: 'result', operation: 'get_task', task_id: task.definition.taskId }
}

/** A failure without a worker's own words: deadline, poison, timeouts. */
export function systemError(code: string, message: string): JsonObject {
  return { code, message }
}
