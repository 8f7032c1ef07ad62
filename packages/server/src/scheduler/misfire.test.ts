// The policies for missed runs, against plain words on a list of all runs.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { calendarOf } from './calendar.ts'
import { MISFIRE_POLICIES, MISSED_AFTER_MS, type MisfirePolicy, RUNS_MAX, runsToFire } from './misfire.ts'

/** All runs from the first that was not fired, in as many passes as it takes. */
function fired(policy: MisfirePolicy, { intervalSeconds, dueCount, lateMs }: Downtime) {
  const calendar = calendarOf(
    { mode: 'interval', interval_seconds: intervalSeconds },
    { timezone: 'UTC', startsAt: 0 },
  )
  const all = Array.from({ length: dueCount }, (_, at) => (at + 1) * intervalSeconds * 1_000)
  const now = all.at(-1)! + (lateMs % (intervalSeconds * 1_000))
  const runs: number[] = []
  let next: number | null = all[0]!
  while (next !== null && next <= now) {
    const pass = runsToFire({ calendar, policy, from: next, now })
    expect(pass.runs.length).toBeLessThanOrEqual(RUNS_MAX)
    runs.push(...pass.runs)
    next = pass.next
  }
  return { all, now, runs, next }
}

interface Downtime {
  readonly intervalSeconds: number
  readonly dueCount: number
  readonly lateMs: number
}

const anyDowntime = fc.record({
  intervalSeconds: fc.integer({ min: 1, max: 10_000 }),
  dueCount: fc.integer({ min: 1, max: 350 }),
  lateMs: fc.integer({ min: 0, max: 1e7 }),
})

test.each(MISFIRE_POLICIES)('%s fires what it says, and goes on with the first run ahead', (policy) => {
  fc.assert(
    fc.property(anyDowntime, (downtime) => {
      const { all, now, runs, next } = fired(policy, downtime)
      const inTime = all.filter((at) => now - at <= MISSED_AFTER_MS)
      const expected = {
        skip: inTime,
        catch_up_one: inTime.length > 0 ? inTime : all.slice(-1),
        catch_up_all: all,
      }[policy]
      expect(runs).toEqual(expected)
      expect(next).toBe(all.at(-1)! + downtime.intervalSeconds * 1_000)
    }),
  )
})
