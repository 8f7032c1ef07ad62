// A claim gives the best of what fits: by priority, then by preferred type, then by age; and it hides nothing, unless its
// instance believed that nothing is there. That it gets to know better is seen when everything is drained.
import type { ClaimCommand } from '../../../src/engine/command.ts'
import type { Claimed } from '../../../src/engine/decide/index.ts'
import type { TaskView } from '../../../src/store/port.ts'
import { fits } from './grants.ts'
import { pairs, type Transition } from './transition.ts'

export function* orderProblems(transition: Transition): Generator<string> {
  const left = leftBehind(transition)
  for (const { command, result } of pairs(transition)) {
    if (command.kind !== 'claim' || !result.ok) continue
    const { grants, again } = result.reply as Claimed // the reply of a claim
    const granted = grants.map(({ task }) => task)
    for (const [index, task] of granted.entries()) {
      const next = granted[index + 1]
      if (next !== undefined && compare(task, next, command) > 0)
        yield `${next.definition.taskId} came too late`
    }
    const passedOver = command.freshOnly ? [] : left.filter((task) => fits(task.definition, command))
    const last = granted.at(-1)
    for (const task of passedOver) {
      const better = last !== undefined && compare(task, last, command) < 0
      const unserved = command.capacity === null && granted.length < command.maxTasks && !again
      if (better) yield `${task.definition.taskId} was passed over for ${last.definition.taskId}`
      else if (unserved && !transition.limited) yield `${task.definition.taskId} fitted and was not given`
    }
  }
}

type Ranked = Pick<TaskView, 'definition'>

function compare(a: Ranked, b: Ranked, { filter }: ClaimCommand): number {
  const rank = ({ definition }: Ranked) => Number(filter.preferredTypes.includes(definition.type))
  return (
    b.definition.priority - a.definition.priority ||
    rank(b) - rank(a) ||
    (a.definition.taskId < b.definition.taskId ? -1 : 1)
  )
}

/** Ready before and after, without a key that might have been full in between, and not past its deadline. */
function leftBehind({ before, after, instanceNow }: Transition): TaskView[] {
  return [...before.tasks.values()].filter(
    ({ definition, state }) =>
      state.place === 'ready' &&
      definition.concurrencyKey === null &&
      (definition.deadlineAt ?? Infinity) > instanceNow &&
      after.tasks.get(definition.taskId)?.state.place === 'ready',
  )
}
