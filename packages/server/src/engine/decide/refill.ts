// When a slot under a concurrency key may have become free, the best of what was parked becomes ready again.
import type { View } from '../draft.ts'
import type { Task } from '../model.ts'
import { type Context, withState } from './context.ts'

/**
 * As many of each lane and type as there is room for: a worker must not miss a task because the slot was offered to one
 * that it cannot take. More may become ready than fit; a claim parks again what it finds without room.
 */
export function refill(view: View, keys: Iterable<string>, context: Context) {
  return { reply: null, tasks: [...keys].flatMap((key) => unpark(view, key, context)) }
}

function unpark(view: View, key: string, context: Context): Task[] {
  const tasks = [...view.parked(key)].flatMap((taskId) => view.task(taskId) ?? [])
  // What this batch has unparked already, and nobody has taken, is offered the slot as well.
  const taken = countByGroup(tasks.filter((task) => task.state.place === 'ready'))
  const ready: Task[] = []
  for (const task of bestFirst(tasks.filter((other) => other.state.place === 'parked'))) {
    const group = groupOf(task)
    const used = taken.get(group) ?? 0
    if (view.activeByKey(key) + used >= view.limitOf(task.definition)) continue
    taken.set(group, used + 1)
    ready.push(withState(task, context.now, { place: 'ready' }))
  }
  return ready
}

function groupOf({ definition }: Task): string {
  return `${definition.lane}\n${definition.type}`
}

function countByGroup(tasks: readonly Task[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const task of tasks) counts.set(groupOf(task), (counts.get(groupOf(task)) ?? 0) + 1)
  return counts
}

function bestFirst(tasks: readonly Task[]): Task[] {
  return tasks.toSorted(
    ({ definition: a }, { definition: b }) => b.priority - a.priority || (a.taskId < b.taskId ? -1 : 1),
  )
}
