// Schedules for people to read.
import type { View } from './server-call.ts'
import { type Column, renderFacts, renderTable } from './table.ts'
import { jsonText } from './task-text.ts'
import { duration, relativeTime, safe } from './text.ts'

/** What the scheduler answers of one schedule. */
export interface ScheduleLine {
  readonly schedule_id: string
  readonly name: string
  readonly status: 'active' | 'paused'
  readonly mode: 'interval' | 'cron'
  readonly interval_seconds?: number
  readonly cron_expr?: string
  readonly timezone: string
  readonly task_type: string
  readonly misfire_policy: string
  readonly jitter_seconds: number
  readonly next_run_at: string | null
  readonly last_run_at: string | null
  readonly last_task_id: string | null
  readonly last_error: string | null
}

export interface Schedule extends ScheduleLine {
  readonly next_runs: readonly string[]
  readonly task_template: object
  readonly created_at: string
  readonly created_receipt_id: string
}

export interface SchedulePage {
  readonly schedules: readonly ScheduleLine[]
  readonly next_cursor: string | null
}

const STYLES = { active: 'green', paused: 'yellow' } as const

function timing({
  mode,
  interval_seconds: seconds = 0,
  cron_expr: expression = '',
  timezone,
}: ScheduleLine): string {
  return mode === 'interval' ? `every ${duration(seconds)}` : `${expression} ${timezone}`
}

/** `Mon 2026-03-30 07:00:00 CEST`: as a clock on the wall there shows it. */
export function zonedTime(iso: string, timezone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  })
  const parts = Object.fromEntries(
    format.formatToParts(Date.parse(iso)).map(({ type, value }) => [type, value]),
  )
  const { weekday, year, month, day, hour, minute, second, timeZoneName } = parts
  return `${weekday} ${year}-${month}-${day} ${hour}:${minute}:${second} ${timeZoneName}`
}

export function scheduleFacts(schedule: Schedule, { paint, now }: View): string {
  const { timezone } = schedule
  const time = (iso: string) => `${zonedTime(iso, timezone)} (${relativeTime(iso, now)})`
  return renderFacts(
    [
      ['schedule', schedule.schedule_id],
      ['name', safe(schedule.name)],
      ['status', paint(STYLES[schedule.status], schedule.status)],
      ['runs', safe(timing(schedule))],
      ['next', schedule.next_runs.map(time).join('\n')],
      ['jitter', schedule.jitter_seconds > 0 ? `up to ${duration(schedule.jitter_seconds)}` : null],
      ['missed runs', schedule.misfire_policy],
      ['task', jsonText(schedule.task_template)],
      ['last run', schedule.last_run_at && time(schedule.last_run_at)],
      ['last task', schedule.last_task_id],
      ['last error', schedule.last_error && paint('red', safe(schedule.last_error))],
      ['obligation', schedule.created_receipt_id],
    ],
    paint,
  )
}

export function scheduleTable({ schedules, next_cursor: cursor }: SchedulePage, view: View): string {
  if (schedules.length === 0)
    return 'No schedules. Make one with: asyncgate schedule create <name> --cron "0 7 * * *" --type echo'
  const columns: Column<ScheduleLine>[] = [
    { title: 'SCHEDULE', text: (schedule) => schedule.schedule_id },
    { title: 'STATUS', text: (schedule) => schedule.status, style: ({ status }) => STYLES[status] },
    { title: 'RUNS', text: timing, shrinks: true },
    { title: 'NEXT', text: (schedule) => nextText(schedule) },
    { title: 'TASK', text: (schedule) => schedule.task_type, shrinks: true },
    { title: 'NAME', text: (schedule) => schedule.name, shrinks: true },
  ]
  const more = cursor === null ? '' : `\n\nMore: repeat with --cursor ${safe(cursor)}`
  return `${renderTable(schedules, columns, view)}${more}`
}

function nextText({ next_run_at: at, timezone }: ScheduleLine): string {
  return at === null ? '' : zonedTime(at, timezone)
}
