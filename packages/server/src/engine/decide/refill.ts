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
  const taken = new Map<string, number>()
  const ready: Task[] = []
  for (const task of bestFirst(view, view.parked(key))) {
    const group = `${task.definition.lane}\n${task.definition.type}`
    const used = taken.get(group) ?? 0
    if (view.activeByKey(key) + used >= (task.definition.concurrencyLimit ?? Infinity)) continue
    taken.set(group, used + 1)
    ready.push(withState(task, context.now, { place: 'ready' }))
  }
  return ready
}

function bestFirst(view: View, taskIds: Iterable<string>): Task[] {
  return [...taskIds]
    .flatMap((taskId) => view.task(taskId) ?? [])
    .filter((task) => task.state.place === 'parked')
    .sort(({ definition: a }, { definition: b }) => b.priority - a.priority || (a.taskId < b.taskId ? -1 : 1))
}
