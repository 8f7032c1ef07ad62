// Times of schedules as people in their time zones read them.
import { expect, test } from 'vitest'
import { scheduleTable, zonedTime } from './schedule-text.ts'
import { painter } from './text.ts'

test('a time is shown as the wall clock shows it, with the name of its offset', () => {
  expect(zonedTime('2026-03-28T06:00:00.000Z', 'Europe/Berlin')).toBe('Sat 2026-03-28 07:00:00 CET')
  expect(zonedTime('2026-03-30T05:00:00.000Z', 'Europe/Berlin')).toBe('Mon 2026-03-30 07:00:00 CEST')
  expect(zonedTime('2026-03-29T22:00:00.000Z', 'UTC')).toBe('Sun 2026-03-29 22:00:00 UTC')
  expect(zonedTime('2026-03-30T00:00:00.000Z', 'America/New_York')).toMatch(/^Sun 2026-03-29 20:00:00 /)
})

test('a list says when each runs, and a paused one has no next run', () => {
  const schedule = {
    schedule_id: 'id-1',
    name: 'beat\u001b[2J',
    status: 'paused',
    mode: 'interval',
    interval_seconds: 5_400,
    timezone: 'UTC',
    task_type: 'echo',
    misfire_policy: 'skip',
    jitter_seconds: 0,
    next_run_at: null,
    last_run_at: null,
    last_task_id: null,
    last_error: null,
  } as const
  const view = { paint: painter(false), columns: Number.POSITIVE_INFINITY, now: 0 }
  expect(scheduleTable({ schedules: [schedule], next_cursor: null }, view)).toMatch(
    /^SCHEDULE +STATUS +RUNS +NEXT +TASK +NAME\nid-1 +paused +every 1h 30m +echo +beat$/,
  )
  expect(scheduleTable({ schedules: [], next_cursor: null }, view)).toContain('asyncgate schedule create')
})
