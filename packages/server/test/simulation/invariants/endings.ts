// A task's end, its terminal receipt and its one task.result_ready are one commit.
import { isTerminal, type Receipt } from '../../../src/engine/model.ts'
import type { Transition } from './transition.ts'

const ENDS = ['task.completed', 'task.failed', 'task.canceled']

export function* endingProblems({ before, after, changes }: Transition): Generator<string> {
  const ended = new Set<string>()
  for (const [taskId, task] of after.tasks) {
    const was = before.tasks.get(taskId)?.state.status ?? 'queued'
    if (isTerminal(task.state.status) && !isTerminal(was)) ended.add(taskId)
  }
  for (const taskId of ended) {
    const types = changes.receipts
      .filter((receipt) => receipt.taskId === taskId && !isAttached(receipt))
      .map((receipt) => receipt.receiptType)
    for (const [name, count] of [
      ['terminal receipt', types.filter((type) => ENDS.includes(type)).length],
      ['task.result_ready', types.filter((type) => type === 'task.result_ready').length],
    ] as const) {
      if (count !== 1) yield `the commit that ended ${taskId} wrote ${count} × ${name}`
    }
  }
  for (const { receiptType, taskId } of changes.receipts) {
    if (receiptType === 'task.result_ready' && !ended.has(taskId!)) {
      yield `task.result_ready of ${taskId} was written apart from its end`
    }
  }
}

/** Artifacts may be attached in the very commit that completed the task. */
function isAttached({ receiptType, leaseId }: Receipt): boolean {
  return receiptType === 'task.completed' && leaseId === null
}
