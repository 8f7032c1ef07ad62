// Which of the runs that are due are to be fired, by the schedule's policy for those that were missed.
import type { Calendar } from './calendar.ts'

export const MISFIRE_POLICIES = ['skip', 'catch_up_one', 'catch_up_all'] as const
export type MisfirePolicy = (typeof MISFIRE_POLICIES)[number]

/** Found later than this, a run was missed. A slow server or a restart is no reason to leave one out. */
export const MISSED_AFTER_MS = 60_000
/** One call's worth of runs; those that are left are due at once. */
export const RUNS_MAX = 100

export interface DueRuns {
  readonly runs: readonly number[]
  /** The first run that is still ahead once these are fired. */
  readonly next: number | null
}

export interface Due {
  readonly calendar: Calendar
  readonly policy: MisfirePolicy
  /** The first run that was not fired yet; not after `now`. */
  readonly from: number
  readonly now: number
}

export function runsToFire({ calendar, policy, from, now }: Due): DueRuns {
  const missedUntil = now - MISSED_AFTER_MS
  const first = policy === 'catch_up_all' || from >= missedUntil ? from : calendar.after(missedUntil - 1)
  const runs: number[] = []
  let next = first
  while (next !== null && next <= now && runs.length < RUNS_MAX) {
    runs.push(next)
    next = calendar.after(next)
  }
  const last = runs.length === 0 && policy === 'catch_up_one' ? calendar.lastUntil(now) : null
  return { runs: last === null ? runs : [last], next }
}
