// What a commit may never do to what was there before: lose a task, change what was asked for, touch what has ended.
import { isTerminal } from '../../../src/engine/model.ts'
import type { TaskView } from '../../../src/store/port.ts'
import type { State } from '../state.ts'

export function* historyProblems(before: State, after: State): Generator<string> {
  for (const [taskId, task] of before.tasks) {
    const now = after.tasks.get(taskId)
    if (now === undefined) yield `${taskId} is gone`
    else yield* changeProblems(task, now)
  }
}

function* changeProblems(before: TaskView, after: TaskView): Generator<string> {
  const { taskId } = before.definition
  if (!same(before.definition, after.definition)) yield `the definition of ${taskId} changed`
  if (isTerminal(before.state.status) && !same(before.state, after.state)) {
    yield `${taskId} was ${before.state.status} and changed to ${JSON.stringify(after.state)}`
  }
  if (after.state.fence < before.state.fence) yield `the fence of ${taskId} went back`
  if (after.state.attempt < before.state.attempt || after.state.expiries < before.state.expiries) {
    yield `${taskId} counts fewer attempts or expiries than before`
  }
}

function same(a: object, b: object): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}
