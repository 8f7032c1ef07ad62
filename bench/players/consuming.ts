// One run of a queue's consumer: counts what was handled and completed, and refuses to call it done unless every
// task was handled exactly once.
import { nowMs } from './clock.ts'
import type { ConsumeOptions, Consuming, Queue } from './queue.ts'

export interface ConsumeRequest {
  readonly from: number
  readonly expected: number
  readonly style: ConsumeOptions['style']
}

export interface Consumed {
  /** When the consumer was ready, or its first task handled, whichever came first: starting up is not measured. */
  readonly startedAt: number
  /** When the last completion was durable. */
  readonly endedAt: number
  /** From the call that created a task to its handler, in milliseconds. */
  readonly latencies: readonly number[]
}

export interface ConsumerRun {
  readonly consumed: Promise<Consumed>
  stop(): Promise<void>
}

export async function startConsumer(queue: Queue, request: ConsumeRequest): Promise<ConsumerRun> {
  const { from, expected, style } = request
  const seen = new Uint8Array(expected)
  const latencies: number[] = []
  const { promise: consumed, resolve, reject } = Promise.withResolvers<Consumed>()
  // A failure is reported by whoever awaits; without anybody it must not end the process.
  consumed.catch(() => {})
  let startedAt = 0
  let completedCount = 0

  const consuming: Consuming = await queue.consume({
    style,
    expected,
    handled: ({ n, at }) => {
      const now = nowMs()
      if (startedAt === 0) startedAt = now
      if (n < from || n >= from + expected) return reject(new Error(`task ${n} was not asked for`))
      if (seen[n - from] === 1) return reject(new Error(`task ${n} was handled twice`))
      seen[n - from] = 1
      if (style === 'latency') latencies.push(now - at)
    },
    completed: (count) => {
      completedCount += count
      if (completedCount < expected) return
      const missing = seen.indexOf(0)
      if (missing >= 0) reject(new Error(`task ${missing + from} was completed but never handled`))
      else resolve({ startedAt, endedAt: nowMs(), latencies })
    },
    failed: reject,
  })
  if (startedAt === 0) startedAt = nowMs()
  return { consumed, stop: () => consuming.stop() }
}
