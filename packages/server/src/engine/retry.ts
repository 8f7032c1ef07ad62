// When a task may be tried again after a failure or a lost lease.
import type { Random } from '../ids.ts'

/** min(backoff · 2^(attempt−1), cap), or what the worker asked for, under the same cap. */
export function retryDelayMs(of: {
  attempt: number
  backoffSeconds: number
  capSeconds: number
  retryAfterSeconds: number | null
}): number {
  const wanted = of.retryAfterSeconds ?? of.backoffSeconds * 2 ** (of.attempt - 1)
  return Math.min(wanted, of.capSeconds) * 1_000
}

/** Spreads the tasks of a worker that died, so that they do not all come back in one instant. */
export function expiryJitterMs(jitterSeconds: number, random: Random): number {
  return random.below(Math.floor(jitterSeconds * 1_000) + 1)
}
