// What a worker and the server say to each other: outcomes out, tasks in. Outcomes that are ready together are reported in one
// call, which claims the next tasks in the same commit; with nothing to report, a claim waits at the server.
import type { Client } from '../client.ts'
import type { Input } from '../contract/operation.ts'
import type { GateContract } from '../contract/index.ts'
import { GateError } from '../errors.ts'
import type { WorkerClock } from './clock.ts'
import type { Execution, LeasedTask } from './execution.ts'
import type { Outcome } from './outcome.ts'

export interface Report {
  readonly execution: Execution
  readonly outcome: Outcome
  readonly durationMs: number
  /** What the handler threw. */
  readonly error?: unknown
}

export type ReportAnswer =
  | { readonly ok: true; readonly requeued?: unknown }
  | { readonly ok: false; readonly error: string; readonly message: string; readonly task_status?: unknown }

type Claim = NonNullable<Input<GateContract['settle']>['claim']>

export interface ExchangeParts {
  readonly client: Pick<Client, 'leaseNext' | 'settle'>
  readonly workerId: string
  readonly claim: Claim
  readonly waitSeconds: number
  readonly concurrency: number
  readonly clock: WorkerClock
  onTasks(tasks: readonly LeasedTask[]): void
  onAnswer(report: Report, answer: ReportAnswer): void
  onTrouble(message: string, retryMs: number): void
  /** The server will never take calls like these. */
  onFatal(error: unknown): void
}

export interface Exchange {
  start(): void
  /** A handler has ended and its place is free; without a report there is nothing to tell. */
  end(report?: Report): void
  /** Outcomes of handlers that have ended before, or that nobody waits for. */
  report(reports: readonly Report[]): void
  stopClaiming(): void
  /** Resolves when everything is reported, or never will be. */
  idle(): Promise<void>
  close(): void
}

const OUTCOMES_MAX = 1_000
/** Well below what the server takes in one request; a single outcome may be larger. */
const BATCH_BYTES_MAX = 4 * 1_048_576
const FIRST_RETRY_MS = 500
const RETRY_MS_MAX = 30_000
/** A server that does not let claims wait must not be asked without pause. */
const EMPTY_CLAIM_MS_MIN = 1_000

export function createExchange(parts: ExchangeParts): Exchange {
  const { client, workerId, claim, concurrency, clock } = parts
  const unreported: Report[] = []
  const polls = new AbortController()
  const calls = new AbortController()
  let isClaiming = true
  let taken = 0 // places with a handler at work
  let asked = 0 // places that a call under way may fill
  let failures = 0
  let settling = false
  let polling = false
  const sleepers = new Set<() => void>()
  const onIdle: (() => void)[] = []

  const free = () => (isClaiming ? concurrency - taken - asked : 0)

  function turn(): void {
    if (calls.signal.aborted) return rest()
    if (!settling && unreported.length > 0) {
      settling = true
      void settle().finally(() => ((settling = false), turn()))
    } else if (!settling && !polling && free() > 0) {
      polling = true
      void poll().finally(() => ((polling = false), turn()))
    } else if (!settling) {
      rest()
    }
  }

  function rest(): void {
    for (const resolve of onIdle.splice(0)) resolve()
  }

  function close(): void {
    calls.abort()
    stopClaiming()
    rest()
  }

  /** `tasks` take the places that were kept for them. */
  async function claiming<R extends { readonly tasks: readonly LeasedTask[] }>(
    call: (wanted: number) => Promise<R>,
  ): Promise<R> {
    const wanted = free()
    asked += wanted
    try {
      const reply = await call(wanted)
      failures = 0
      taken += reply.tasks.length
      if (reply.tasks.length > 0) parts.onTasks(reply.tasks)
      return reply
    } finally {
      asked -= wanted
    }
  }

  async function settle(): Promise<void> {
    const batch = takeBatch(unreported)
    try {
      const { outcomes } = await claiming((wanted) =>
        client.settle(
          {
            worker_id: workerId,
            outcomes: batch.map(toWire),
            ...(wanted > 0 && { claim: { ...claim, max_tasks: wanted } }),
          },
          { signal: calls.signal },
        ),
      )
      answer(batch, outcomes)
    } catch (error) {
      const [only] = batch
      if (batch.length === 1 && only && error instanceof GateError && error.code === 'payload_too_large')
        return parts.onAnswer(only, { ok: false, error: error.code, message: error.message })
      unreported.unshift(...batch)
      await recover(error)
    }
  }

  function answer(batch: readonly Report[], answers: readonly ReportAnswer[]): void {
    batch.forEach((report, index) => parts.onAnswer(report, answers[index]!)) // one for each, in their order
  }

  async function poll(): Promise<void> {
    const startedAt = clock.now()
    try {
      const { tasks } = await claiming((wanted) =>
        client.leaseNext(
          { worker_id: workerId, ...claim, max_tasks: wanted, wait_seconds: parts.waitSeconds },
          { signal: polls.signal },
        ),
      )
      if (tasks.length === 0) await pause(EMPTY_CLAIM_MS_MIN - (clock.now() - startedAt))
    } catch (error) {
      if (isClaiming) await recover(error)
    }
  }

  async function recover(error: unknown): Promise<void> {
    if (calls.signal.aborted) return
    if (!isPassing(error)) {
      close()
      return parts.onFatal(error)
    }
    const retryMs = retryAfterMs(error) ?? Math.min(FIRST_RETRY_MS * 2 ** failures, RETRY_MS_MAX)
    failures += 1
    parts.onTrouble(error.message, retryMs)
    await pause(retryMs)
  }

  /** A stop ends it early. */
  function pause(ms: number): Promise<void> {
    if (ms <= 0) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        sleepers.delete(wake)
        cancel()
        resolve()
      }
      const cancel = clock.after(ms, wake)
      sleepers.add(wake)
    })
  }

  function stopClaiming(): void {
    isClaiming = false
    // The server gives back what it grants to a call that has gone. A grant whose reply is on its way just now comes back
    // when its lease ends.
    polls.abort()
    for (const wake of sleepers) wake()
  }

  return {
    start: turn,
    end(report) {
      taken -= 1
      if (report) unreported.push(report)
      turn()
    },
    report(reports) {
      unreported.push(...reports)
      turn()
    },
    stopClaiming,
    idle: () =>
      new Promise((resolve) => {
        onIdle.push(resolve)
        turn()
      }),
    close,
  }
}

function toWire({ execution: { task }, outcome }: Report) {
  return { task_id: task.task_id, lease_id: task.lease_id, ...outcome }
}

/** At least one, however large. */
function takeBatch(unreported: Report[]): Report[] {
  let bytes = 0
  let count = 0
  for (const report of unreported.slice(0, OUTCOMES_MAX)) {
    bytes += JSON.stringify(report.outcome).length
    if (count > 0 && bytes > BATCH_BYTES_MAX) break
    count += 1
  }
  return unreported.splice(0, count)
}

/** Whether the same call may succeed later. A fault on the server's side may be mended there. */
function isPassing(error: unknown): error is GateError {
  return error instanceof GateError && (error.retryable || error.code === 'internal_error')
}

function retryAfterMs({ details }: GateError): number | undefined {
  const { retry_after: seconds } = details
  return typeof seconds === 'number' ? Math.min(seconds * 1_000, RETRY_MS_MAX) : undefined
}
