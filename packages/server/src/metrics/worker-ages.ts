// When each worker was last heard of by this server: the most recent ones only, and none for ever.

const WORKERS_MAX = 100
/** A worker that has been silent for this long has gone; its gauge goes with it. */
const FORGET_AFTER_MS = 3_600_000

export interface WorkerAges {
  seen(workerId: string, at: number): void
  /** Worker and age in milliseconds. */
  read(): [string, number][]
}

export function workerAges(now: () => number): WorkerAges {
  const lastSeenAt = new Map<string, number>() // oldest first, since a worker that is seen moves to the end
  return {
    seen(workerId, at) {
      lastSeenAt.delete(workerId)
      lastSeenAt.set(workerId, at)
      if (lastSeenAt.size <= WORKERS_MAX) return
      const [oldest] = lastSeenAt.keys()
      lastSeenAt.delete(oldest!)
    },
    read() {
      for (const [workerId, at] of lastSeenAt) if (now() - at > FORGET_AFTER_MS) lastSeenAt.delete(workerId)
      return [...lastSeenAt].map(([workerId, at]) => [workerId, Math.max(0, now() - at)])
    },
  }
}
