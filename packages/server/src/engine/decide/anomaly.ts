// Anomalies: told to the owner, once per condition. They inform; they never change state.
import { bodyOf } from '../ledger.ts'
import { type JsonObject, type Receipt, SYSTEM, type Task } from '../model.ts'
import { type Context, issueFor } from './context.ts'

export function raise(
  context: Context,
  task: Task,
  anomaly: {
    kind: string
    details: JsonObject
    recommendedAction: string
    leaseId?: string
    parents?: readonly string[]
  },
): Receipt {
  return issueFor(context, task, {
    receiptType: 'system.anomaly',
    from: SYSTEM,
    to: task.definition.createdBy,
    ...(anomaly.leaseId === undefined ? {} : { leaseId: anomaly.leaseId }),
    ...(anomaly.parents === undefined ? {} : { parents: anomaly.parents }),
    body: bodyOf({
      kind: anomaly.kind,
      details: anomaly.details,
      recommended_action: anomaly.recommendedAction,
    }),
  })
}
