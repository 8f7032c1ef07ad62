// The scheduler: a worker that takes requests about schedules, and rounds that fire what is due. It knows AsyncGate by the SDK alone.
import { createWorker, GateError, type Worker, type WorkerClock, type WorkerOptions } from '@asyncgate/sdk'
import { openScheduleFile } from './file.ts'
import { createScheduleLedger } from './ledger.ts'
import { createRequests } from './requests.ts'
import { createRound } from './round.ts'
import { startRounds } from './rounds.ts'
import { CreateSchedule, ListSchedules, NamedSchedule } from './schedule.ts'

export interface SchedulerParts extends Omit<WorkerOptions, 'workerId' | 'workerKind' | 'log'> {
  /** The principal that it is, as its key says; schedulers of one name know the same schedules. */
  readonly schedulerId: string
  /** Where it keeps what comes next; `:memory:` to begin anew each time. */
  readonly path: string
  /** By which runs are due; the worker's own `clock` is for tests. */
  readonly wallClock: WorkerClock
  readonly log: NonNullable<Exclude<WorkerOptions['log'], false>>
}

export function createScheduler({
  schedulerId,
  path,
  wallClock,
  log,
  ...options
}: SchedulerParts): Pick<Worker, 'run' | 'stop'> {
  const { client } = options
  const worker = createWorker({ ...options, log, workerId: schedulerId, workerKind: 'service' })
  const file = openScheduleFile(path, wallClock.now())
  const onOtherLedger = () =>
    log.warn({}, 'the ledger no longer has what was read of it; all schedules are read again')
  const ledger = createScheduleLedger({ client, schedulerId, file, onOtherLedger })
  const round = createRound({ client, file, ledger, clock: wallClock, log })
  const ended = Promise.withResolvers<never>()
  const rounds = startRounds({
    runOnce: () => round.runOnce(),
    clock: wallClock,
    onError: (error) => {
      if (isForGood(error)) ended.reject(error)
      else log.warn({ error }, 'a round of the schedules failed and is repeated')
    },
  })
  const requests = createRequests({ client, schedulerId, file, ledger, onChange: () => rounds.wake() })
  worker
    .task('schedule.create', requests.create, { schema: CreateSchedule })
    .task('schedule.pause', requests.pause, { schema: NamedSchedule })
    .task('schedule.resume', requests.resume, { schema: NamedSchedule })
    .task('schedule.delete', requests.delete, { schema: NamedSchedule })
    .task('schedule.status', requests.status, { schema: NamedSchedule })
    .task('schedule.list', requests.list, { schema: ListSchedules })

  async function work(): Promise<void> {
    rounds.wake()
    try {
      await Promise.race([worker.run(), ended.promise])
    } finally {
      await worker.stop({ graceSeconds: 0 })
      await rounds.stop()
      file.close()
    }
  }

  let running: Promise<void> | undefined
  return {
    run: () => (running ??= work()),
    stop: async (grace) => {
      await worker.stop(grace)
      await running?.catch(() => {}) // whoever awaits run() is told
    },
  }
}

/** Whoever it is that calls, the server will not let them. */
function isForGood(error: unknown): boolean {
  return error instanceof GateError && (error.code === 'unauthenticated' || error.code === 'forbidden')
}
