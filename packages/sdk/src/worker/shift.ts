// One run of a worker, from its first claim until it has drained: which tasks are in hand, and what becomes of them.
import { type WorkerClock, endsWithin } from './clock.ts'
import { LeaseEndedError, leaseEnded, type LostLease } from './errors.ts'
import type { TaskEnd, WorkerEvent, WorkerLog } from './events.ts'
import { createExchange, type ExchangeParts } from './exchange.ts'
import { createExecution, type Execution, type Handler, type LeasedTask } from './execution.ts'
import type { Sizes } from './inline-room.ts'
import { openKeeper } from './keeper.ts'
import { failureOf, type Outcome, outcomeOf, substituteFor } from './outcome.ts'
import { checkPayload, type PayloadSchema } from './payload.ts'
import type { Report, ReportAnswer } from './report.ts'
import type { Client } from '../client.ts'
import type { UploadProgress } from '../client/content.ts'

export interface Registered {
  readonly handler: Handler<unknown>
  readonly schema: PayloadSchema<unknown> | undefined
}

export interface ShiftParts extends Pick<ExchangeParts, 'worker' | 'claim' | 'waitSeconds' | 'concurrency'> {
  readonly client: Client
  readonly tasks: ReadonlyMap<string, Registered>
  readonly sizes: Sizes
  readonly ttlMs: number
  readonly clock: WorkerClock
  /** Given when a test moves it. */
  readonly testClock: WorkerClock | undefined
  readonly renewFrom: 'thread' | 'timer'
  readonly log: WorkerLog
  emit(event: WorkerEvent): void
  /** The server will never take calls like these. */
  onFatal(error: unknown): void
}

export interface Shift {
  /** No more claims; what ends within the grace is reported, the rest given back. */
  stop(graceMs: number): Promise<void>
}

/** How long a server that does not answer can hold up the end. */
const FAREWELL_MS_MAX = 5_000

export async function startShift(parts: ShiftParts): Promise<Shift> {
  const { client, worker, clock, emit, tasks } = parts
  const executions = new Map<string, Execution>()
  const waiting: (() => void)[] = []
  let isStopping = false
  const { log, sizes } = parts
  const held = () => ({ client, worker, log, sizes, now: clock.now(), onUpload: uploadReporter(emit) })
  const keeper = await openKeeper({
    client,
    worker,
    ttlMs: parts.ttlMs,
    clock: parts.testClock,
    renewFrom: parts.renewFrom,
    reports: {
      onLost(leaseId, lost) {
        const execution = executions.get(leaseId)
        // Once the outcome is on its way, the answer to that says what became of it.
        if (execution && !execution.isReported) execution.end(leaseEnded(lost))
      },
      onRenewed: (count) => emit({ kind: 'renewed', count }),
      onTrouble: (message) => emit({ kind: 'trouble', message }),
    },
  })
  const exchange = createExchange({
    ...parts,
    onTasks(claimed) {
      if (isStopping) return exchange.report(claimed.map((task) => giveBack(createExecution(task, held()))))
      // All are kept before the first handler starts: it may not let go of this thread for long.
      keeper.keep(claimed.map((task) => ({ taskId: task.task_id, leaseId: task.lease_id })))
      emit({ kind: 'claimed', count: claimed.length })
      for (const task of claimed) void begin(task)
    },
    onAnswer,
    onTrouble: (message, retryMs) => emit({ kind: 'trouble', message, retryMs }),
  })

  async function begin(task: LeasedTask): Promise<void> {
    const execution = createExecution(task, held())
    executions.set(task.lease_id, execution)
    emit({ kind: 'started', task })
    const { outcome, error } = await execute(execution, tasks.get(task.type)!, sizes) // only types in `tasks` are claimed
    const durationMs = clock.now() - execution.startedAt
    const { signal } = execution.context
    if (execution.isReported) {
      exchange.end() // given back while it was still at work
    } else if (signal.aborted) {
      exchange.end()
      closeOver(execution, durationMs, signal.reason as LeaseEndedError) // as `Execution.end` was given it
    } else {
      execution.isReported = true
      exchange.end({ execution, outcome, durationMs, error })
    }
    for (const resolve of waiting.splice(0)) resolve()
  }

  function onAnswer(report: Report, answer: ReportAnswer): void {
    const { execution, outcome, durationMs } = report
    if (answer.ok) return close(execution, endOf(outcome, answer), durationMs, report.error)
    const error = new Error(answer.message)
    if (OVER.includes(answer.error)) return closeOver(execution, durationMs, leaseEnded(lostBy(answer)))
    const substitute = report.isSubstitute ? undefined : substituteFor(outcome, answer)
    if (substitute !== undefined)
      return exchange.report([{ execution, outcome: substitute, durationMs, error, isSubstitute: true }])
    emit({ kind: 'trouble', message: `a report was refused: ${answer.message}` })
    close(execution, 'lost', durationMs, error)
  }

  /** A cancel was wanted: there is nothing to look into. */
  function closeOver(execution: Execution, durationMs: number, reason: LeaseEndedError): void {
    if (reason.end === 'canceled') close(execution, 'canceled', durationMs)
    else close(execution, 'lost', durationMs, reason)
  }

  function close(execution: Execution, end: TaskEnd, durationMs: number, error?: unknown): void {
    const { task } = execution
    executions.delete(task.lease_id)
    keeper.drop([task.lease_id])
    emit({ kind: 'ended', task, outcome: end, durationMs, ...(error !== undefined && { error }) })
  }

  const working = () => [...executions.values()].filter(({ isReported }) => !isReported)

  async function untilNoneWorks(): Promise<void> {
    while (working().length > 0) await new Promise<void>((resolve) => waiting.push(resolve))
  }

  function giveBack(execution: Execution): Report {
    execution.isReported = true
    execution.end(new LeaseEndedError('stopping', 'The worker is stopping and has given the task back.'))
    const outcome = { action: 'release', reason: 'the worker is stopping' } as const
    return { execution, outcome, durationMs: clock.now() - execution.startedAt }
  }

  emit({ kind: 'ready', types: [...tasks.keys()], renewsFrom: keeper.from })
  exchange.start()
  return {
    async stop(graceMs) {
      isStopping = true
      emit({ kind: 'stopping', running: working().length })
      exchange.stopClaiming()
      if (graceMs > 0) await endsWithin(untilNoneWorks(), graceMs, clock)
      // What has lost its lease has nothing to give back.
      exchange.report(
        working()
          .filter(({ context }) => !context.signal.aborted)
          .map(giveBack),
      )
      await endsWithin(exchange.idle(), FAREWELL_MS_MAX, clock)
      exchange.close()
      keeper.close()
      emit({ kind: 'stopped' })
    },
  }
}

interface Ended {
  readonly outcome: Outcome
  readonly error?: unknown
}

async function execute(
  { task, context }: Execution,
  { handler, schema }: Registered,
  sizes: Sizes,
): Promise<Ended> {
  try {
    const payload = schema ? await checkPayload(schema, task.payload) : task.payload
    return { outcome: await outcomeOf(await handler(payload, context), context, sizes) }
  } catch (error) {
    return { outcome: failureOf(error), error }
  }
}

/** Often enough to see it move, seldom enough not to flood a log. */
const UPLOAD_STEP_BYTES = 1_048_576

function uploadReporter(emit: ShiftParts['emit']) {
  let told = 0
  return (task: LeasedTask, { bytes, totalBytes }: UploadProgress): void => {
    if (bytes < told) told = 0 // sent again from the beginning
    if (bytes - told < UPLOAD_STEP_BYTES && bytes !== totalBytes) return
    told = bytes
    emit({ kind: 'uploading', task, bytes, totalBytes })
  }
}

/** The server has closed the lease, whoever did it and however. */
const OVER: readonly string[] = ['lease_invalid_or_expired', 'not_found', 'already_settled']

function lostBy({ message, task_status: status }: Extract<ReportAnswer, { ok: false }>): LostLease {
  return { message, taskStatus: typeof status === 'string' ? status : null }
}

function endOf({ action }: Outcome, { requeued }: { readonly requeued?: unknown }): TaskEnd {
  if (action === 'complete') return 'completed'
  if (action === 'release') return 'released'
  return requeued === true ? 'retrying' : 'failed'
}
