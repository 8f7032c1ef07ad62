// The worker: handlers by task type, run until stopped. It claims, keeps leases alive, reports and drains; a handler only works.
import type { Client } from '../client.ts'
import { systemIds } from '../client/ids.ts'
import { LIST_ENTRIES_MAX } from '../contract/fields.ts'
import { GateError } from '../errors.ts'
import { steadyClock, type WorkerClock } from './clock.ts'
import { logEvent, type WorkerEvent, type WorkerLog } from './events.ts'
import type { Handler } from './execution.ts'
import { consoleLog, logWith, silentLog } from './log.ts'
import type { PayloadSchema } from './payload.ts'
import { type Registered, type Shift, startShift } from './shift.ts'
import { onStopSignals } from './signals.ts'

export interface WorkerOptions {
  readonly client: Client
  /** Stable over restarts, e.g. `renderer-1`: the ledger names it. */
  readonly workerId: string
  /** Kind of principal that the ledger names; default worker. A program that also creates tasks is a service. */
  readonly workerKind?: 'worker' | 'service'
  /** A task is offered only to workers that have all that it requires. */
  readonly capabilities?: readonly string[]
  /** Tasks at one time; default 10. */
  readonly concurrency?: number
  /** Default and bounds are the server's. Renewed at a third of it; a cancel is noticed as late as that. */
  readonly leaseTtlSeconds?: number
  /** How long a stop waits for handlers before their tasks are given back; default 25. */
  readonly graceSeconds?: number
  /** Default JSON lines on stderr; pino's loggers fit as they are. */
  readonly log?: WorkerLog | false
  /** Hears of everything that happens: for metrics. */
  readonly onEvent?: (event: WorkerEvent) => void
  /** Whether `run` ends on SIGTERM and SIGINT, where there are signals; default true. */
  readonly stopOnSignals?: boolean
  /** Default a thread, where there are threads: handlers that compute for long cannot starve it. */
  readonly renewFrom?: 'thread' | 'timer'
  /** For tests that move time. */
  readonly clock?: WorkerClock
}

export interface TaskOptions<P> {
  /** A zod schema or another Standard Schema: types the payload, and fails tasks whose payload does not fit. */
  readonly schema?: PayloadSchema<P>
}

export interface Worker {
  /** Before `run`. */
  task<P = Readonly<Record<string, unknown>>>(
    type: string,
    handler: Handler<P>,
    options?: TaskOptions<P>,
  ): Worker
  /** Resolves when the worker was stopped and has drained; rejects when the server refuses it for good. */
  run(): Promise<void>
  /** Claims no more, waits for handlers within the grace, gives the rest back; resolves when that is done. */
  stop(options?: { readonly graceSeconds?: number }): Promise<void>
}

const CONCURRENCY = 10
/** As many as one claim may ask for. */
const CONCURRENCY_MAX = 1_000
/** Below the 30 seconds that container platforms give by default. */
const GRACE_SECONDS = 25
/** Below the 60 seconds after which proxies give up on an answer by default. */
const WAIT_SECONDS = 30
const FIRST_RETRY_MS = 500
const RETRY_MS_MAX = 30_000

export function createWorker(options: WorkerOptions): Worker {
  const { client, workerId, concurrency = CONCURRENCY, clock = steadyClock } = options
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > CONCURRENCY_MAX)
    throw new RangeError(`concurrency must be a whole number from 1 to ${CONCURRENCY_MAX}.`)
  const log = logWith(options.log === false ? silentLog : (options.log ?? consoleLog), {
    worker_id: workerId,
  })
  const tasks = new Map<string, Registered>()
  const fatal = Promise.withResolvers<never>()
  const starting = new AbortController()
  let running: Promise<void> | undefined
  let shift: Shift | undefined
  let graceMs = (options.graceSeconds ?? GRACE_SECONDS) * 1_000
  const stopping = Promise.withResolvers<void>()

  function emit(event: WorkerEvent): void {
    logEvent(log, event)
    try {
      options.onEvent?.(event)
    } catch (error) {
      log.error({ error }, 'onEvent failed') // what only watches must not stop the work
    }
  }

  async function begin(): Promise<Shift> {
    const config = await reachServer(client, { clock, emit, signal: starting.signal })
    const { min_ttl_seconds: min, max_ttl_seconds: max, default_ttl_seconds: initial } = config.lease
    const ttlSeconds = Math.min(Math.max(options.leaseTtlSeconds ?? initial, min), max)
    return startShift({
      client,
      worker: { worker_id: workerId, ...(options.workerKind && { worker_kind: options.workerKind }) },
      tasks,
      concurrency,
      claim: {
        accept_types: [...tasks.keys()],
        worker_instance_id: systemIds.next(),
        lease_ttl_seconds: ttlSeconds,
        ...(options.capabilities && { capabilities: [...options.capabilities] }),
      },
      waitSeconds: Math.min(WAIT_SECONDS, config.claim.max_wait_seconds),
      sizes: {
        inlineBytesMax: config.results.inline_max_bytes,
        large: config.results.default_channel,
      },
      ttlMs: ttlSeconds * 1_000,
      clock,
      testClock: options.clock,
      renewFrom: options.renewFrom ?? 'thread',
      log,
      emit,
      onFatal: fatal.reject,
    })
  }

  async function work(): Promise<void> {
    const ignoreSignals = options.stopOnSignals === false ? () => {} : onStopSignals(() => void worker.stop())
    try {
      shift = await begin()
      await Promise.race([stopping.promise, fatal.promise])
    } catch (error) {
      if (shift === undefined && starting.signal.aborted) return
      graceMs = 0 // nobody would take the results
      throw error
    } finally {
      await shift?.stop(graceMs)
      ignoreSignals()
    }
  }

  const worker: Worker = {
    task(type, handler, { schema } = {}) {
      if (running) throw new Error('Register every task before run().')
      if (tasks.has(type)) throw new Error(`There is a handler for ${type} already.`)
      if (tasks.size === LIST_ENTRIES_MAX)
        throw new Error(`A worker takes at most ${LIST_ENTRIES_MAX} types.`)
      // What the handler takes is what its own schema gives, or the payload as it is.
      tasks.set(type, { handler: handler as Handler<unknown>, schema })
      return worker
    },
    run() {
      if (running) throw new Error('A worker runs once. Create another to run again.')
      if (tasks.size === 0) throw new Error('Register a handler with task() before run().')
      running = work()
      return running
    },
    async stop({ graceSeconds } = {}) {
      if (graceSeconds !== undefined) graceMs = graceSeconds * 1_000
      starting.abort()
      stopping.resolve()
      await running?.catch(() => {}) // whoever awaits run() is told
    },
  }
  return worker
}

interface Reaching {
  readonly clock: WorkerClock
  readonly signal: AbortSignal
  emit(event: WorkerEvent): void
}

/** A server that is not there yet is waited for: workers and servers start in any order. */
async function reachServer(client: Client, { clock, emit, signal }: Reaching) {
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await client.getConfig({}, { signal, retry: false })
    } catch (error) {
      if (!(error instanceof GateError) || !error.retryable) throw error
      const retryMs = Math.min(FIRST_RETRY_MS * 2 ** repeats, RETRY_MS_MAX)
      emit({ kind: 'trouble', message: error.message, retryMs })
      await new Promise<void>((resolve, reject) => {
        const cancel = clock.after(retryMs, resolve)
        signal.addEventListener('abort', () => (cancel(), reject(signal.reason)), { once: true })
      })
    }
  }
}
