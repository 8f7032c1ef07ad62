// A schedule as its owner is shown it.
import { iso } from './firing.ts'
import { calendarFor, type Schedule } from './schedule.ts'

const RUNS_SHOWN = 5

/** For a list, where what its tasks are given would be too much. */
export function scheduleLine({ scheduleId, definition, ...schedule }: Schedule) {
  const { name, timezone, misfire_policy, jitter_seconds } = definition
  const nextRunAt = schedule.pausedBy === null ? schedule.nextRunAt : null
  return {
    schedule_id: scheduleId,
    name,
    status: schedule.pausedBy === null ? 'active' : 'paused',
    ...(definition.mode === 'interval'
      ? { mode: definition.mode, interval_seconds: definition.interval_seconds }
      : { mode: definition.mode, cron_expr: definition.cron_expr }),
    timezone,
    task_type: definition.task_template.type,
    misfire_policy,
    jitter_seconds,
    next_run_at: orNull(nextRunAt),
    last_run_at: orNull(schedule.lastRunAt),
    last_task_id: schedule.lastTaskId,
    last_error: schedule.lastError,
  }
}

export function scheduleView(schedule: Schedule) {
  const { definition, createdReceiptId } = schedule
  return {
    ...scheduleLine(schedule),
    next_runs: nextRuns(schedule),
    task_template: definition.task_template,
    created_at: definition.starts_at,
    created_receipt_id: createdReceiptId,
  }
}

function nextRuns({ pausedBy, nextRunAt, definition }: Schedule): string[] {
  const runs: string[] = []
  const calendar = calendarFor(definition)
  for (
    let at = pausedBy === null ? nextRunAt : null;
    at !== null && runs.length < RUNS_SHOWN;
    at = calendar.after(at)
  )
    runs.push(iso(at))
  return runs
}

function orNull(at: number | null): string | null {
  return at === null ? null : iso(at)
}
