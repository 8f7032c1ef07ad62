// Time as a dependency: production passes the system's, tests and the simulation one that they move.

export interface Clock {
  now(): number
  /** Calls `run` once after `delayMs`; the returned function calls it off. */
  after(delayMs: number, run: () => void): () => void
}

/** setTimeout fires at once beyond this. */
const TIMEOUT_MS_MAX = 2_147_483_647

export const systemClock: Clock = {
  now: () => Date.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, Math.min(Math.max(delayMs, 0), TIMEOUT_MS_MAX))
    return () => clearTimeout(timer)
  },
}

export function iso(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
