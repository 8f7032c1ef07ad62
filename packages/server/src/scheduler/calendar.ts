// When a schedule runs: pure arithmetic on instants, from its definition alone, so that every scheduler comes to the same
// run times. Cron fields are read on the wall clock of the schedule's time zone.
import { Cron, CronDate } from 'croner'

export type Timing =
  | { readonly mode: 'interval'; readonly interval_seconds: number }
  | { readonly mode: 'cron'; readonly cron_expr: string }

export interface Calendar {
  /** The first run after that time; null if there is none. */
  after(at: number): number | null
  /** The last run at or before that time; null if there is none. */
  lastUntil(at: number): number | null
}

interface Bounds {
  readonly timezone: string
  /** Runs come after this time; intervals are counted from it. */
  readonly startsAt: number
}

const SECOND_MS = 1_000

/** Throws an error in words for the one who wrote the expression. */
export function calendarOf(timing: Timing, bounds: Bounds): Calendar {
  return timing.mode === 'interval'
    ? intervalCalendar(timing.interval_seconds * SECOND_MS, bounds.startsAt)
    : cronCalendar(timing.cron_expr, bounds)
}

function intervalCalendar(intervalMs: number, startsAt: number): Calendar {
  const countUntil = (at: number) => Math.max(0, Math.floor((at - startsAt) / intervalMs))
  return {
    after: (at) => startsAt + (countUntil(at) + 1) * intervalMs,
    lastUntil: (at) => (countUntil(at) === 0 ? null : startsAt + countUntil(at) * intervalMs),
  }
}

/** croner also takes dates, nicknames, and `?` for the moment at which it reads: none of these is a cron expression here. */
const FIVE_FIELDS = /^[^\s?@]+(\s+[^\s?@]+){4}$/

function cronCalendar(expression: string, { timezone, startsAt }: Bounds): Calendar {
  if (!FIVE_FIELDS.test(expression.trim()))
    throw new Error('It must have five fields: minute, hour, day of month, month, day of week.')
  const cron = new Cron(expression.trim(), { timezone, mode: '5-part' })
  const nextRun = (at: number) => cron.nextRun(new Date(at))?.getTime() ?? null
  return {
    after: (at) => {
      const from = Math.max(at, startsAt)
      const next = nextRun(from)
      const monthEnd = lastSecondOfMonth(from, timezone)
      // croner 11.0 looks for the 31st of a shorter month in the days that follow it, and so may pass over the first of these.
      return next === null || next <= monthEnd ? next : Math.min(next, nextRun(monthEnd) ?? next)
    },
    lastUntil: (at) => {
      // croner looks before a time and knows whole seconds only; runs are on whole minutes.
      const reference = (Math.floor(at / SECOND_MS) + 1) * SECOND_MS
      const last = cron.previousRuns(1, new Date(reference))[0]?.getTime() ?? null
      return last !== null && last > startsAt ? last : null
    },
  }
}

function lastSecondOfMonth(at: number, timezone: string): number {
  const date = new CronDate(new Date(at), timezone)
  Object.assign(date, { month: date.month + 1, day: 1, hour: 0, minute: 0, second: 0, ms: 0 })
  return date.getTime() - SECOND_MS
}

export function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== ''
  } catch {
    return false // that is how one asks
  }
}
