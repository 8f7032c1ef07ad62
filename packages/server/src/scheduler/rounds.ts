// The loop around one round: when the next run is due, when something has changed, and every few seconds in any case.
import type { WorkerClock } from '@asyncgate/sdk'

export interface RoundsParts {
  /** Resolves with the time at which there is something to do next. */
  readonly runOnce: () => Promise<number | null>
  readonly clock: WorkerClock
  readonly onError: (error: unknown) => void
}

export interface Rounds {
  /** Now, or right after the round under way. */
  wake(): void
  /** Resolves when the round under way, if any, has ended. */
  stop(): Promise<void>
}

/** A clock that was set, and a machine that slept, are noticed as late as that. */
const REST_MS_MAX = 15_000
const RETRY_MS = 5_000

export function startRounds({ runOnce, clock, onError }: RoundsParts): Rounds {
  let isStopped = false
  let isWanted = false
  let round: Promise<void> | undefined
  let cancel = () => {}

  async function pass(): Promise<number> {
    try {
      const nextAt = await runOnce()
      return Math.min(Math.max((nextAt ?? Number.POSITIVE_INFINITY) - clock.now(), 0), REST_MS_MAX)
    } catch (error) {
      onError(error)
      return RETRY_MS
    }
  }

  function wake(): void {
    if (isStopped) return
    if (round !== undefined) {
      isWanted = true
      return
    }
    cancel()
    isWanted = false
    round = pass().then((restMs) => {
      round = undefined
      if (!isStopped) cancel = clock.after(isWanted ? 0 : restMs, wake)
    })
  }

  return {
    wake,
    stop: async () => {
      isStopped = true
      cancel()
      await round
    },
  }
}
