// What owners ask of the scheduler, as tasks: schedule.create, pause, resume, delete, status, list. Whatever it changes, it changes in
// the ledger; a request that is repeated after a crash finds there what it did before.
import {
  type Client,
  FatalError,
  GateError,
  type Handler,
  type LeasedTask as LeasedTaskSchema,
} from '@asyncgate/sdk'
import type { z } from 'zod'
import type { ScheduleFile } from './file.ts'
import type { ScheduleLedger } from './ledger.ts'
import type { CreateSchedule, ListSchedules, NamedSchedule, Owner, Schedule } from './schedule.ts'
import { sameOwner } from './schedule.ts'
import { scheduleLine, scheduleView } from './view.ts'

type Task = Pick<z.output<typeof LeasedTaskSchema>, 'task_id' | 'created_by' | 'created_at'>
type Answering<P> = (payload: P, task: Task) => Promise<unknown>
type Named = z.output<typeof NamedSchedule>

export interface Requests {
  readonly create: Handler<z.output<typeof CreateSchedule>>
  readonly pause: Handler<Named>
  readonly resume: Handler<Named>
  readonly delete: Handler<Named>
  readonly status: Handler<Named>
  readonly list: Handler<z.output<typeof ListSchedules>>
}

export interface RequestParts {
  readonly client: Client
  readonly schedulerId: string
  readonly file: ScheduleFile
  readonly ledger: ScheduleLedger
  /** Runs may have come closer. */
  readonly onChange: () => void
}

const PAGE = 100

export function createRequests({ client, schedulerId, file, ledger, onChange }: RequestParts): Requests {
  async function change(fact: Parameters<ScheduleLedger['submit']>[0]): Promise<void> {
    await ledger.submit(fact)
    await ledger.follow()
    onChange()
  }

  /** Another's schedule is answered like one that never was. */
  function own(scheduleId: string, owner: Owner): Schedule {
    const schedule = file.find(scheduleId)
    if (schedule !== undefined && sameOwner(schedule.owner, owner)) return schedule
    throw new FatalError(`No schedule ${scheduleId}. Check the id, or list your schedules.`, {
      code: 'not_found',
    })
  }

  /** In the owner's name where the scheduler's key may speak for others, else in its own; the outcome is the owner's either way. */
  async function creatorFor(owner: Owner): Promise<Owner> {
    const { caller } = await client.getConfig({})
    const mayNameOthers = caller.scopes.includes('admin:write')
    return mayNameOthers ? owner : { principal_kind: 'service', principal_id: schedulerId }
  }

  const create: Answering<z.output<typeof CreateSchedule>> = async (wanted, task) => {
    const { task_id: scheduleId, created_by: owner, created_at: startsAt } = task
    if (file.find(scheduleId) === undefined) {
      const body = { ...wanted, starts_at: startsAt, tasks_created_by: await creatorFor(owner) }
      await change({ type: 'schedule.created', scheduleId, owner, taskId: scheduleId, body })
    }
    return scheduleView(own(scheduleId, owner))
  }

  const pause: Answering<Named> = async ({ schedule_id: scheduleId }, task) => {
    const { owner, pausedBy, createdReceiptId } = own(scheduleId, task.created_by)
    if (pausedBy === null)
      await change({
        type: 'schedule.paused',
        scheduleId,
        owner,
        taskId: task.task_id,
        parents: [createdReceiptId],
      })
    return scheduleView(own(scheduleId, task.created_by))
  }

  const resume: Answering<Named> = async ({ schedule_id: scheduleId }, task) => {
    const { owner, pausedBy } = own(scheduleId, task.created_by)
    if (pausedBy !== null)
      await change({ type: 'schedule.resumed', scheduleId, owner, taskId: task.task_id, parents: [pausedBy] })
    return scheduleView(own(scheduleId, task.created_by))
  }

  const remove: Answering<Named> = async ({ schedule_id: scheduleId }, task) => {
    if (
      file.find(scheduleId) !== undefined ||
      !(await ledger.wasSubmittedFor(task.task_id, 'schedule.deleted'))
    ) {
      const { owner, createdReceiptId } = own(scheduleId, task.created_by)
      const parents = [createdReceiptId]
      await change({ type: 'schedule.deleted', scheduleId, owner, taskId: task.task_id, parents })
    }
    return { schedule_id: scheduleId, deleted: true }
  }

  const list: Answering<z.output<typeof ListSchedules>> = async ({ cursor = '' }, { created_by: owner }) => {
    const found = file.ownedBy(owner, { after: cursor, limit: PAGE + 1 })
    const page = found.slice(0, PAGE)
    const isLast = found.length === page.length
    return { schedules: page.map(scheduleLine), next_cursor: isLast ? null : page.at(-1)!.scheduleId }
  }

  /** The file is brought up to date before it is asked. */
  function answering<P>(answer: Answering<P>): Handler<P> {
    return async (payload, { task }) => {
      try {
        await ledger.follow()
        return await answer(payload, task)
      } catch (error) {
        if (!(error instanceof GateError) || error.retryable || error.code === 'internal_error') throw error
        throw new FatalError(error.message, { code: error.code, cause: error })
      }
    }
  }

  return {
    create: answering(create),
    pause: answering(pause),
    resume: answering(resume),
    delete: answering(remove),
    status: answering(async ({ schedule_id: scheduleId }, { created_by: owner }) =>
      scheduleView(own(scheduleId, owner)),
    ),
    list: answering(list),
  }
}
