// Reads that wait for a task to end: woken by the commit that ends it, by a hint from another instance, or by time.
import type { Clock } from '../clock.ts'

/** Hints can be lost; a reader looks again this often. */
const POLL_MS = 1_000

export interface WaitingReads {
  /** Resolves when it is worth looking at the task again. */
  untilWorthALook(of: {
    tenantId: string
    taskId: string
    waitMs: number
    signal: AbortSignal
  }): Promise<void>
  ended(tenantId: string, taskIds: readonly string[]): void
  /** Something ended on another instance: everybody who waits in that tenant looks again. */
  endedElsewhere(tenantId: string): void
  stop(): void
}

export function createWaitingReads(clock: Clock): WaitingReads {
  const waiting = new Map<string, Map<string, Set<() => void>>>()

  function wakersOf(tenantId: string, taskId: string): Set<() => void> {
    const tasks = waiting.get(tenantId) ?? new Map<string, Set<() => void>>()
    waiting.set(tenantId, tasks)
    const wakers = tasks.get(taskId) ?? new Set()
    tasks.set(taskId, wakers)
    return wakers
  }

  function forget(tenantId: string, taskId: string, waker: () => void): void {
    const tasks = waiting.get(tenantId)
    const wakers = tasks?.get(taskId)
    wakers?.delete(waker)
    if (wakers?.size === 0) tasks?.delete(taskId)
    if (tasks?.size === 0) waiting.delete(tenantId)
  }

  const wakeAll = (tasks: ReadonlyMap<string, ReadonlySet<() => void>> | undefined) => {
    for (const wakers of tasks?.values() ?? []) for (const wake of wakers) wake()
  }

  return {
    untilWorthALook: ({ tenantId, taskId, waitMs, signal }) =>
      new Promise((resolve) => {
        if (signal.aborted) {
          resolve()
          return
        }
        const wake = () => {
          cancel()
          signal.removeEventListener('abort', wake)
          forget(tenantId, taskId, wake)
          resolve()
        }
        const cancel = clock.after(Math.min(waitMs, POLL_MS), wake)
        signal.addEventListener('abort', wake)
        wakersOf(tenantId, taskId).add(wake)
      }),
    ended: (tenantId, taskIds) => {
      const tasks = waiting.get(tenantId)
      if (tasks === undefined) return
      for (const taskId of taskIds) for (const wake of tasks.get(taskId) ?? []) wake()
    },
    endedElsewhere: (tenantId) => wakeAll(waiting.get(tenantId)),
    stop: () => {
      for (const tasks of waiting.values()) wakeAll(tasks)
    },
  }
}
