// A loop around one bounded pass: it owns timing, jitter and stopping, so that services need not.
import type { Clock } from '../clock.ts'
import type { Random } from '../ids.ts'

/** Instances that started together must not sweep together. */
const JITTER_SHARE = 0.1

export interface Loop {
  /** Resolves when the pass under way, if any, has ended. */
  stop(): Promise<void>
}

export interface LoopParts {
  readonly runOnce: () => Promise<unknown>
  readonly intervalMs: number
  readonly clock: Clock
  readonly random: Random
  readonly onError: (error: unknown) => void
}

export function startLoop({ runOnce, intervalMs, clock, random, onError }: LoopParts): Loop {
  // Drawn once: when a pass ends depends on the database, and must not change what others draw after it.
  const everyMs = intervalMs - random.below(Math.ceil(intervalMs * JITTER_SHARE))
  let stopped = false
  let pass: Promise<unknown> = Promise.resolve()
  let cancel = schedule()

  function schedule(): () => void {
    return clock.after(everyMs, () => {
      pass = runOnce()
        .catch(onError)
        .finally(() => {
          if (!stopped) cancel = schedule()
        })
    })
  }

  return {
    stop: async () => {
      stopped = true
      cancel()
      await pass
    },
  }
}
