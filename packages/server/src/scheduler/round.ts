// One round of the scheduler: learn what has changed, fire what is due, tell of what is overdue. Each step may be repeated, by this
// process or another, at any time: the server knows a run by its key and a receipt by what it says.
import { type Client, GateError, type WorkerLog } from '@asyncgate/sdk'
import type { WorkerClock } from '@asyncgate/sdk'
import type { Advance, ScheduleFile } from './file.ts'
import { iso, taskFor } from './firing.ts'
import type { ScheduleLedger } from './ledger.ts'
import { runsToFire } from './misfire.ts'
import { calendarFor, type Schedule } from './schedule.ts'

export interface RoundParts {
  readonly client: Client
  readonly file: ScheduleFile
  readonly ledger: ScheduleLedger
  readonly clock: Pick<WorkerClock, 'now'>
  readonly log: WorkerLog
}

/** What was changed through a scheduler with another file is known as late as that: before a run is fired, and in any case. */
const FOLLOW_MS = { due: 15_000, idle: 60_000 }
/** A run that the server refuses is tried again after this long: the reason may be mended there. */
const REFUSED_MS = 60_000
const DUE_MAX = 500
/** Calls at one time; the server makes few commits of them. */
const FIRED_AT_ONCE = 20

export interface Round {
  /** When there is something to do next; null if nothing is planned. */
  runOnce(): Promise<number | null>
}

export function createRound({ client, file, ledger, clock, log }: RoundParts): Round {
  let followedAt = Number.NEGATIVE_INFINITY
  let seenAt = Number.POSITIVE_INFINITY

  /** At the start, and whenever the clock was set back: what it passed over while it was ahead would not come for as long. */
  function noticeClock(): void {
    const now = clock.now()
    if (now < seenAt) file.rewind(now)
    seenAt = now
  }

  async function follow(): Promise<void> {
    const isDue = file.due(clock.now(), 1).length > 0
    if (Math.abs(clock.now() - followedAt) < FOLLOW_MS[isDue ? 'due' : 'idle']) return
    await ledger.follow()
    followedAt = clock.now()
  }

  async function fire(schedule: Schedule): Promise<void> {
    const now = clock.now()
    const { definition, scheduleId } = schedule
    const from = schedule.nextRunAt! // what is due has a time
    const calendar = calendarFor(definition)
    const { runs, next } = runsToFire({ calendar, policy: definition.misfire_policy, from, now })
    const answers = await create(schedule, runs, now)
    const refusedAt = answers.findIndex((answer) => answer.refusal !== undefined)
    const fired = answers.slice(0, refusedAt < 0 ? runs.length : refusedAt)
    const refusal = answers[refusedAt]?.refusal
    // The policy may pass over what is refused, from one run to the next: how late it is counts from the first of them.
    const since = schedule.unfiredSince ?? from
    const isLate = now - since > 2 * ((calendar.after(since) ?? now) - since)
    // A run that was there already was fired by another scheduler, perhaps in time.
    const isOverdue =
      isLate && (refusal !== undefined || fired.length === 0 || fired.some(({ isNew }) => isNew))
    const last = fired.at(-1)
    const step: Advance = {
      scheduleId,
      from,
      next: refusal === undefined ? next : runs[refusedAt]!,
      fired: last && { runAt: runs[fired.length - 1]!, taskId: last.taskId },
      lastError: refusal ?? (last === undefined ? schedule.lastError : null),
      holdUntil: refusal === undefined ? 0 : now + REFUSED_MS,
      unfiredSince: unfiredSince(),
      overdueRunAt: isOverdue ? since : undefined,
    }
    file.advance(step)
    tell(schedule, { step, refusal, runs, firedCount: fired.length })

    function unfiredSince(): number | null {
      if (last === undefined) return refusal === undefined ? schedule.unfiredSince : since
      return refusal === undefined ? null : runs[refusedAt]!
    }
  }

  async function create(schedule: Schedule, runs: readonly number[], now: number): Promise<Answer[]> {
    if (runs.length === 0) return []
    const tasks = runs.map((at) => taskFor(schedule, { at, now }))
    try {
      const as = schedule.definition.tasks_created_by as { principal_kind: 'agent'; principal_id: string } // no system
      const reply = await client.createTasks({ ...as, tasks })
      return reply.tasks.map(answerOf)
    } catch (error) {
      if (!(error instanceof GateError) || error.retryable) throw error
      return runs.map(() => ({ isNew: false, taskId: null, refusal: `${error.code}: ${error.message}` }))
    }
  }

  function tell({ scheduleId, definition }: Schedule, { step, refusal, runs, firedCount }: Told): void {
    const facts = { schedule_id: scheduleId, name: definition.name }
    const { fired, from } = step
    if (refusal !== undefined) log.warn({ ...facts, reason: refusal }, 'a run was refused and is tried again')
    if (fired !== undefined)
      log.info(
        { ...facts, run_at: iso(fired.runAt), runs: firedCount, task_id: fired.taskId },
        'schedule fired',
      )
    if (runs[0] !== from)
      log.warn(
        { ...facts, from: iso(from), policy: definition.misfire_policy },
        'runs were missed and left out',
      )
  }

  async function reportOverdue(): Promise<void> {
    for (const { schedule, runAt } of file.overdue()) {
      const { scheduleId, owner, definition, createdReceiptId } = schedule
      const followingAt = calendarFor(definition).after(runAt) ?? runAt
      // Nothing of this moment is in it, so that the same condition is the same receipt, whoever tells it.
      await ledger.submit({
        type: 'schedule.overdue',
        scheduleId,
        owner,
        parents: [createdReceiptId],
        body: {
          kind: 'schedule_overdue',
          details: { run_at: iso(runAt), interval_seconds: (followingAt - runAt) / 1_000 },
          recommended_action:
            'Check that a scheduler runs and that the server takes the task of this schedule: "asyncgate schedule status" names the last refusal.',
        },
      })
      file.reported(scheduleId, runAt)
      log.warn({ schedule_id: scheduleId, run_at: iso(runAt) }, 'schedule overdue')
    }
  }

  return {
    runOnce: async () => {
      noticeClock()
      await follow()
      const due = file.due(clock.now(), DUE_MAX)
      for (let at = 0; at < due.length; at += FIRED_AT_ONCE)
        await Promise.all(due.slice(at, at + FIRED_AT_ONCE).map(fire))
      await reportOverdue()
      return file.nextDueAt()
    },
  }
}

interface Told {
  readonly step: Advance
  readonly refusal: string | undefined
  readonly runs: readonly number[]
  readonly firedCount: number
}

interface Answer {
  readonly isNew: boolean
  readonly taskId: string | null
  readonly refusal?: string
}

/** A conflict means that the run was fired before, at another {{now}}: it has its task. */
function answerOf(reply: Awaited<ReturnType<Client['createTasks']>>['tasks'][number]): Answer {
  const taskId = typeof reply.task_id === 'string' ? reply.task_id : null
  if (!('error' in reply)) return { isNew: !reply.is_duplicate, taskId }
  if (reply.error === 'idempotency_conflict') return { isNew: false, taskId }
  return { isNew: false, taskId, refusal: `${reply.error}: ${reply.message}` }
}
