// Where a task stands with respect to claims must follow from its status, its time, its dependencies and its key.
import { isTerminal } from '../../../src/engine/model.ts'
import type { TaskView } from '../../../src/store/port.ts'
import type { State } from '../state.ts'

export interface Moment {
  /** The true time, which no instance knows. */
  readonly now: number
  /** No instance's clock is further off than this. */
  readonly skewMs: number
}

export function* placeProblems(state: State, moment: Moment): Generator<string> {
  const room = roomByKey(state)
  for (const task of state.tasks.values()) {
    const { taskId } = task.definition
    if ((task.state.status === 'queued') !== (task.state.place !== 'none')) {
      yield `${taskId} is ${task.state.status} in place ${task.state.place}`
    }
    if (task.state.status === 'queued') yield* queuedProblems(task, { state, moment, room })
  }
}

interface Room {
  readonly active: number
  /** Lane and type → how many are ready. */
  readonly ready: Map<string, number>
}

type Around = { readonly state: State; readonly moment: Moment; readonly room: ReadonlyMap<string, Room> }

function* queuedProblems(task: TaskView, { state, moment, room }: Around): Generator<string> {
  const { definition, state: now } = task
  const { taskId } = definition
  const unmet = unmetDependencies(task, state)
  if (now.place !== 'waiting' && unmet.length > 0) {
    yield `${taskId} is ${now.place} before its dependencies ${unmet.join(', ')}`
  }
  if (now.place === 'waiting' && definition.dependsOn.length === 0) yield `${taskId} waits for nothing`
  if (now.place === 'ready' && now.nextEligibleAt > moment.now + moment.skewMs) {
    yield `${taskId} is ready ${now.nextEligibleAt - moment.now} ms before its time`
  }
  if (now.place === 'delayed' && now.nextEligibleAt <= now.updatedAt) yield `${taskId} is delayed to the past`
  if (now.place === 'parked' && !isFull(task, room)) {
    yield `${taskId} is parked under ${definition.concurrencyKey}, which has room that nobody will offer it`
  }
}

export function unmetDependencies({ definition }: TaskView, { tasks }: State): string[] {
  return definition.dependsOn.filter((dependency) => {
    const { status } = tasks.get(dependency)!.state
    return definition.onDependencyFailure === 'run' ? !isTerminal(status) : status !== 'succeeded'
  })
}

/** All slots are taken, or offered to ready tasks that the same workers can take. */
function isFull({ definition }: TaskView, room: ReadonlyMap<string, Room>): boolean {
  if (definition.concurrencyKey === null) return false
  const { active, ready } = room.get(definition.concurrencyKey)!
  return active + (ready.get(groupOf(definition)) ?? 0) >= definition.concurrencyLimit!
}

function roomByKey({ tasks }: State): Map<string, Room> {
  const rooms = new Map<string, Room>()
  for (const { definition, state, lease } of tasks.values()) {
    const { concurrencyKey } = definition
    if (concurrencyKey === null) continue
    const { active, ready } = rooms.get(concurrencyKey) ?? { active: 0, ready: new Map<string, number>() }
    const group = groupOf(definition)
    if (state.place === 'ready') ready.set(group, (ready.get(group) ?? 0) + 1)
    rooms.set(concurrencyKey, { active: active + Number(lease !== null), ready })
  }
  return rooms
}

function groupOf({ lane, type }: TaskView['definition']): string {
  return `${lane}\n${type}`
}
