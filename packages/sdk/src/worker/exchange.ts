// What a worker and the server say to each other: outcomes out, tasks in. Outcomes that are ready together are reported in one
// call, which claims the next tasks in the same commit; with nothing to report, a claim waits at the server.
import type { Client } from '../client.ts'
import type { Input } from '../contract/operation.ts'
import type { GateContract } from '../contract/index.ts'
import type { GateError } from '../errors.ts'
import type { WorkerClock } from './clock.ts'
import type { LeasedTask, WorkerName } from './execution.ts'
import {
  isAboutAnOutcome,
  isPassing,
  type Report,
  type ReportAnswer,
  RETRY_MS_MAX,
  retryAfterMs,
  takeBatch,
  toWire,
} from './report.ts'

type Claim = NonNullable<Input<GateContract['settle']>['claim']>

export interface ExchangeParts {
  readonly client: Pick<Client, 'leaseNext' | 'settle'>
  readonly worker: WorkerName
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

/** A fault on the server's side that has come this often in a row is the outcome's. */
const DEFECTS_MAX = 3
const FIRST_RETRY_MS = 500
/**
 * So many outcomes are worth a report of their own beside the one that is under way: a worker of 400 no-ops at a time then does a third
 * more. Fewer are better reported together.
 */
const LARGE = 100
const SETTLES_AT_ONCE_MAX = 2
/** A server that does not let claims wait must not be asked without pause. */
const EMPTY_CLAIM_MS_MIN = 1_000

/** What the server has answered to a report, and how often in a row calls had failed before. */
interface Refused {
  readonly error: GateError
  readonly failed: number
}

export function createExchange(parts: ExchangeParts): Exchange {
  const { client, worker, claim, concurrency, clock } = parts
  const unreported: Report[] = []
  const polls = new AbortController()
  const calls = new AbortController()
  let isClaiming = true
  let taken = 0 // places with a handler at work
  let asked = 0 // places that a call under way may fill
  let failures = 0
  let suspects = 0 // how many of the next outcomes are reported by themselves
  let settles = 0
  let isGathering = false // by one of them, which has not taken its outcomes yet
  let polling = false
  const sleepers = new Set<() => void>()
  const onIdle: (() => void)[] = []

  const free = () => (isClaiming ? concurrency - taken - asked : 0)

  function turn(): void {
    if (calls.signal.aborted) return rest()
    if (unreported.length > 0 && !isGathering && (settles === 0 || isWorthAnother())) {
      settles += 1
      isGathering = true
      void settle().finally(() => ((settles -= 1), turn()))
    } else if (settles === 0 && !polling && free() > 0) {
      polling = true
      void poll().finally(() => ((polling = false), turn()))
    } else if (settles === 0) {
      rest()
    }
  }

  /** Undefined: all. Half of them, where the rest is worth another report. */
  function untilHalf(): number | undefined {
    const half = Math.ceil(concurrency / 2)
    return unreported.length - half >= LARGE ? half : undefined
  }

  /** Not while something is wrong: what comes then is tried once at a time. */
  function isWorthAnother(): boolean {
    return settles < SETTLES_AT_ONCE_MAX && unreported.length >= LARGE && failures === 0 && suspects === 0
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
    // The places of what waits to be reported are filled when it is.
    const wanted = Math.max(0, free() - unreported.length)
    const failed = failures
    asked += wanted
    try {
      const reply = await call(wanted)
      if (failures === failed) failures = 0 // else another has failed meanwhile, which this one says nothing of
      taken += reply.tasks.length
      if (reply.tasks.length > 0) parts.onTasks(reply.tasks)
      return reply
    } finally {
      asked -= wanted
    }
  }

  async function settle(): Promise<void> {
    // Handlers that were given their tasks together often end together. With ten at a time on SQLite, waiting for them makes
    // half as many commits, and 950 tasks a second instead of 600.
    if (taken > 0) await nextTurn()
    const batch = takeBatch(unreported, suspects > 0 ? 1 : untilHalf())
    suspects = Math.max(0, suspects - 1)
    isGathering = false
    const failed = failures
    try {
      const settled = claiming((wanted) =>
        client.settle(
          {
            ...worker,
            outcomes: batch.map(toWire),
            ...(wanted > 0 && { claim: { ...claim, max_tasks: wanted } }),
          },
          { signal: calls.signal },
        ),
      )
      turn() // there may be enough left for another
      answer(batch, (await settled).outcomes)
    } catch (error) {
      if (isAboutAnOutcome(error)) return single(batch, { error, failed })
      unreported.unshift(...batch)
      await recover(error, failed)
    }
  }

  /** One outcome that the server cannot take must not hold up the others: they go one by one until it is found. */
  async function single(batch: readonly Report[], { error, failed }: Refused): Promise<void> {
    const [only] = batch
    const isTransient = error.code === 'internal_error' && failed < DEFECTS_MAX
    if (batch.length === 1 && only && !isTransient)
      return parts.onAnswer(only, { ok: false, error: error.code, message: error.message })
    unreported.unshift(...batch)
    suspects = batch.length
    if (isTransient) await recover(error, failed)
  }

  function answer(batch: readonly Report[], answers: readonly ReportAnswer[]): void {
    batch.forEach((report, index) => parts.onAnswer(report, answers[index]!)) // one for each, in their order
  }

  async function poll(): Promise<void> {
    const startedAt = clock.now()
    const failed = failures
    try {
      const { tasks } = await claiming((wanted) =>
        client.leaseNext(
          { ...worker, ...claim, max_tasks: wanted, wait_seconds: parts.waitSeconds },
          { signal: polls.signal },
        ),
      )
      if (tasks.length === 0) await pause(EMPTY_CLAIM_MS_MIN - (clock.now() - startedAt))
    } catch (error) {
      if (isClaiming) await recover(error, failed)
    }
  }

  /** `failed`: how often in a row before this call. Two that fail together have failed once. */
  async function recover(error: unknown, failed: number): Promise<void> {
    if (calls.signal.aborted) return
    if (!isPassing(error)) {
      close()
      return parts.onFatal(error)
    }
    const retryMs = retryAfterMs(error) ?? Math.min(FIRST_RETRY_MS * 2 ** failed, RETRY_MS_MAX)
    failures = Math.max(failures, failed + 1)
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

/** Of the event loop; not a matter of time, so not the clock's. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => void (globalThis.setImmediate ?? setTimeout)(resolve))
}
