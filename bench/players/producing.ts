// The load of those who create tasks: one by one from many callers, in batches, or at a steady pace.
import { setTimeout as sleep } from 'node:timers/promises'
import { nowMs } from './clock.ts'
import type { Queue, Work } from './queue.ts'

export interface Span {
  readonly startedAt: number
  readonly endedAt: number
}

export interface Load {
  readonly from: number
  readonly count: number
}

/** Each caller has one creation under way at a time. */
export function addSingly(queue: Queue, load: Load & { callers: number }): Promise<Span> {
  let next = load.from
  const end = load.from + load.count
  return timed(load.callers, async () => {
    while (next < end) await queue.add(workOf(next++))
  })
}

export function addInBatches(
  queue: Queue,
  load: Load & { callers: number; batchSize: number },
): Promise<Span> {
  let next = load.from
  const end = load.from + load.count
  return timed(load.callers, async () => {
    while (next < end) {
      const size = Math.min(load.batchSize, end - next)
      const works = Array.from({ length: size }, (_, at) => workOf(next + at))
      next += size
      await queue.addMany(works)
    }
  })
}

/** Creations start when their time has come, whether or not earlier ones have been answered. */
export async function addPaced(queue: Queue, load: Load & { perSecond: number }): Promise<Span> {
  const startedAt = nowMs()
  const added: Promise<void>[] = []
  for (let at = 0; at < load.count; at += 1) {
    const dueMs = startedAt + (at * 1_000) / load.perSecond - nowMs()
    if (dueMs > 0) await sleep(dueMs)
    added.push(queue.add(workOf(load.from + at)))
  }
  await Promise.all(added)
  return { startedAt, endedAt: nowMs() }
}

async function timed(callers: number, call: () => Promise<void>): Promise<Span> {
  const startedAt = nowMs()
  await Promise.all(Array.from({ length: callers }, call))
  return { startedAt, endedAt: nowMs() }
}

function workOf(n: number): Work {
  return { n, at: nowMs() }
}
