// What a schedule is: what callers may ask for, what the ledger keeps of it, and where it stands.
import { INT_MAX, NAME_LENGTH_MAX, NewTask, PrincipalRef, SECONDS_MAX, timestamp } from '@asyncgate/sdk'
import { z } from 'zod'
import { type Calendar, calendarOf, isTimezone } from './calendar.ts'
import { MISFIRE_POLICIES } from './misfire.ts'

/** Spread over more than a day, a run has no time. */
const JITTER_SECONDS_MAX = 86_400

const TaskTemplate = z.strictObject({
  // It would be theirs who run the scheduler, and not the owner's.
  type: NewTask.shape.type.refine(
    (type) => !type.startsWith('schedule.'),
    'a schedule cannot make schedules',
  ),
  payload_template: z.record(z.string(), z.unknown()).default({}),
  requirements: NewTask.shape.requirements,
  priority: z.int().min(-INT_MAX).max(INT_MAX).default(0),
})

const common = {
  name: z.string().min(1).max(NAME_LENGTH_MAX),
  timezone: z
    .string()
    .max(NAME_LENGTH_MAX)
    .refine(isTimezone, 'it is no time zone, e.g. "Europe/Berlin"')
    .default('UTC'),
  task_template: TaskTemplate,
  misfire_policy: z.enum(MISFIRE_POLICIES).default('catch_up_one'),
  jitter_seconds: z.int().min(0).max(JITTER_SECONDS_MAX).default(0),
}

const interval = {
  ...common,
  mode: z.literal('interval'),
  interval_seconds: z.int().min(1).max(SECONDS_MAX),
}
const cron = { ...common, mode: z.literal('cron'), cron_expr: z.string().max(NAME_LENGTH_MAX) }

export const CreateSchedule = z
  .discriminatedUnion('mode', [z.strictObject(interval), z.strictObject(cron)])
  .superRefine((wanted, context) => {
    const problem = problemOf(wanted)
    if (problem !== null) context.addIssue({ code: 'custom', path: ['cron_expr'], message: problem })
  })

export const NamedSchedule = z.strictObject({ schedule_id: z.string().min(1).max(NAME_LENGTH_MAX) })
export const ListSchedules = z.strictObject({ cursor: z.string().min(1).max(NAME_LENGTH_MAX).optional() })

/** The body of a schedule.created receipt: all that any scheduler needs to come to the same runs and the same tasks. */
const kept = { starts_at: timestamp, tasks_created_by: PrincipalRef }
export const Definition = z.discriminatedUnion('mode', [
  z.object({ ...interval, ...kept }),
  z.object({ ...cron, ...kept }),
])
export type Definition = z.output<typeof Definition>
export type Owner = z.output<typeof PrincipalRef>

export interface Schedule {
  /** The id of the task that asked for it: asked twice for one task, there is one schedule. */
  readonly scheduleId: string
  readonly owner: Owner
  readonly definition: Definition
  readonly createdReceiptId: string
  /** The receipt that paused it; null while it is active. */
  readonly pausedBy: string | null
  /** The first run that is not known to be fired. */
  readonly nextRunAt: number | null
  readonly lastRunAt: number | null
  readonly lastTaskId: string | null
  /** Why no run could be fired since the last one that was. */
  readonly lastError: string | null
  /** The first run that was refused since then. */
  readonly unfiredSince: number | null
}

export function calendarFor(definition: Definition): Calendar {
  return calendarOf(definition, {
    timezone: definition.timezone,
    startsAt: Date.parse(definition.starts_at),
  })
}

/** Any time before which nobody wants to have been woken. */
const LONG_AGO_MS = Date.UTC(2020, 0, 1)

function problemOf(wanted: Parameters<typeof calendarOf>[0] & { readonly timezone: string }): string | null {
  if (wanted.mode !== 'cron' || !isTimezone(wanted.timezone)) return null
  try {
    const calendar = calendarOf(wanted, { timezone: wanted.timezone, startsAt: LONG_AGO_MS })
    return calendar.after(LONG_AGO_MS) === null ? 'no date ever matches it' : null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

export function sameOwner(a: Owner, b: Owner): boolean {
  return a.principal_kind === b.principal_kind && a.principal_id === b.principal_id
}
