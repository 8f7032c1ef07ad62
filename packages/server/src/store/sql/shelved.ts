// Tasks as they were locked on a shelf, with where their rows lie. The engine hands back what it was given as what was before
// a change, so that the row need not be looked for again.
import type { Task } from '../../engine/model.ts'

export interface Shelved extends Task {
  /** Null: it must be looked for by its key. */
  readonly address: string | null
}

export interface Addressed {
  readonly address: string | null
}

function addressOf(task: Task): string | null {
  return 'address' in task ? (task as Shelved).address : null // only this store adds to a task
}

export function byAddress(tasks: readonly Task[]) {
  const placed: { address: string }[] = []
  const others: { task_id: string }[] = []
  for (const task of tasks) {
    const address = addressOf(task)
    if (address === null) others.push({ task_id: task.definition.taskId })
    else placed.push({ address })
  }
  return { placed, others }
}
