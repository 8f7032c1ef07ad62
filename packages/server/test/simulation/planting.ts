// What planted bugs are made of: wrong views of a snapshot, wrong writes, a transaction that is lost, a clock that stands still.
import type { Clock } from '../../src/clock.ts'
import type { Command } from '../../src/engine/command.ts'
import { isTerminal, type Lease, type Receipt, type Task } from '../../src/engine/model.ts'
import type { Changes, Snapshot, Unit } from '../../src/engine/unit.ts'
import type { Life, Transact } from './wire.ts'

export function isResultReady({ receiptType }: Receipt): boolean {
  return receiptType === 'task.result_ready'
}

/** The leases that commands of these kinds act under. */
export function named(
  commands: readonly Command[],
  ...kinds: readonly Command['kind'][]
): (lease: Lease) => boolean {
  const acting = commands.filter(({ kind }) => kinds.includes(kind))
  const ids = new Set(acting.flatMap((command) => ('leaseId' in command ? command.leaseId : [])))
  return ({ leaseId }) => ids.has(leaseId)
}

export function alive(lease: Lease): Lease {
  return { ...lease, endedAt: null, end: null, expiresAt: Number.MAX_SAFE_INTEGER, timeoutAt: null }
}

export function withLeases(
  snapshot: Snapshot,
  wanted: (lease: Lease) => boolean,
  change: (lease: Lease) => Lease,
): Snapshot {
  const leases = [...snapshot.leases].map(
    ([leaseId, lease]) => [leaseId, wanted(lease) ? change(lease) : lease] as const,
  )
  return { ...snapshot, leases: new Map(leases) }
}

/** Makes tasks that have ended look as if they had not. */
export function withTasks(
  snapshot: Snapshot,
  taskIds: ReadonlySet<string>,
  status: 'queued' | 'running',
): Snapshot {
  const tasks = [...snapshot.tasks].map(([taskId, task]): [string, Task] => {
    const revived = taskIds.has(taskId) && isTerminal(task.state.status)
    return [taskId, revived ? { ...task, state: { ...task.state, status } } : task]
  })
  return { ...snapshot, tasks: new Map(tasks) }
}

export function changeTasks(
  changes: Changes,
  change: (of: Changes['changedTasks'][number]) => Task['state'],
): Changes {
  const changedTasks = changes.changedTasks.map(({ before, after }) => ({
    before,
    after: { ...after, state: change({ before, after }) },
  }))
  return { ...changes, changedTasks }
}

class Lost extends Error {}

export async function answerAndLose<T>(transact: Transact, unit: Unit<T>, life: Life): Promise<T> {
  let answer: T | null = null
  try {
    await transact(
      {
        ...unit,
        decide: (snapshot) => {
          answer = unit.decide(snapshot).result
          throw new Lost()
        },
      },
      life,
    )
  } catch (error) {
    if (!(error instanceof Lost)) throw error
  }
  return answer as T // decide has been called
}

/** Stops a clock while something is decided. */
export function at<T>(clock: Clock, now: number, decide: () => T): T {
  const running = { ...clock }
  Object.assign(clock, { now: () => now })
  try {
    return decide()
  } finally {
    Object.assign(clock, running)
  }
}
