// Time for workers: the system's, or one that a test moves.

export interface WorkerClock {
  now(): number
  /** Calls `run` once after `delayMs`; the returned function calls it off. */
  after(delayMs: number, run: () => void): () => void
}

/** setTimeout fires at once beyond this. */
const TIMEOUT_MS_MAX = 2_147_483_647

export const systemClock: WorkerClock = {
  now: () => Date.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, Math.min(Math.max(delayMs, 0), TIMEOUT_MS_MAX))
    return () => clearTimeout(timer)
  },
}

/** For lengths of time: goes on evenly when somebody sets the clock of the machine. */
export const steadyClock: WorkerClock = { ...systemClock, now: () => performance.now() }

/** Resolves with `false` when the time is up before the work has ended. */
export function endsWithin(work: Promise<unknown>, ms: number, clock: WorkerClock): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => resolve(false))
    work.finally(cancel).then(() => resolve(true), reject)
  })
}
