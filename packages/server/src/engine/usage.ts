// What a tenant has used of its quotas, and what one commit changes about that. Stores keep the sums beside the ledger: every
// task that comes or ends leaves a receipt, so that its commit has that row locked anyhow.
import { isTerminal, type Task } from './model.ts'
import type { Changes, Needs } from './unit.ts'

export interface Usage {
  readonly activeTasks: number
  /** Of the bodies, as JSON. */
  readonly receiptBytes: number
}

export const NOTHING_USED: Usage = { activeTasks: 0, receiptBytes: 0 }

/** The differences. */
export function usageOf(changes: Pick<Changes, 'createdTasks' | 'changedTasks' | 'receipts'>): Usage {
  let activeTasks = 0
  for (const task of changes.createdTasks) activeTasks += countOf(task)
  for (const { before, after } of changes.changedTasks) activeTasks += countOf(after) - countOf(before)
  return { activeTasks, receiptBytes: changes.receipts.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0) }
}

/** 1 for a task that counts as active, else 0. */
export function countOf({ state }: Task): number {
  return isTerminal(state.status) ? 0 : 1
}

/**
 * How many active tasks there may be after the commit; null when that is no matter. Whoever creates nothing must get through,
 * also where the quota was lowered below what there is.
 */
export function activeTasksMaxOf(
  { activeTasksMax }: Needs,
  { createdTasks }: Pick<Changes, 'createdTasks'>,
): number | null {
  return createdTasks.length === 0 ? null : activeTasksMax
}
