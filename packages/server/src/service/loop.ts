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
  let stopped = false
  let pass: Promise<unknown> = Promise.resolve()
  let cancel = schedule()

  function schedule(): () => void {
    const jitterMs = random.below(Math.ceil(intervalMs * JITTER_SHARE))
    return clock.after(intervalMs - jitterMs, () => {
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
