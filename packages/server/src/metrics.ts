// What the server measures of itself, in Prometheus' format, all under asyncgate_*. The parts report plain
// events; gauges about the store are read when somebody asks for them.
import { type OperationKey, wireName } from '@asyncgate/sdk'
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client'
import { boundedLabels } from './metrics/bounded-labels.ts'
import { createMeters, type Meters } from './metrics/meters.ts'
import { workerAges } from './metrics/worker-ages.ts'

/** What one durable commit changed. */
export interface Committed {
  readonly commandCount: number
  readonly durationMs: number
  readonly tasksCreated?: readonly { readonly type: string }[]
  readonly tasksEnded?: readonly TaskEnded[]
  /** `waitedMs` is from when the task became eligible. */
  readonly leasesGranted?: readonly { readonly type: string; readonly waitedMs: number }[]
  readonly leasesExpired?: number
  readonly receiptTypes?: readonly string[]
}

export interface TaskEnded {
  readonly type: string
  readonly outcome: 'succeeded' | 'failed' | 'canceled'
  /** From creation to the end. */
  readonly durationMs: number
}

/** What the one door records of a call (facade/dispatch.ts). */
export interface RequestEnded {
  readonly operation: OperationKey
  /** `ok`, or the error code. */
  readonly outcome: string
  readonly durationMs: number
}

export interface ClaimEnded {
  readonly durationMs: number
  readonly grantedCount: number
}

/** Figures of the store, over all tenants: the part of the store's own `Stats` that is shown. */
export interface StoreStats {
  readonly byStatus: Readonly<Record<string, number>>
  readonly ready: number
  readonly delayed: number
  readonly activeLeases: number
  readonly workers: number
  readonly oldestReadyAt: number | null
  readonly openObligations: number
}

export interface Metrics {
  onCommitted(event: Committed): void
  onRequest(event: RequestEnded): void
  onClaim(event: ClaimEnded): void
  /** Any call of a worker counts as its heartbeat. */
  onWorkerSeen(event: { readonly workerId: string; readonly at: number }): void
  text(): Promise<string>
  /** The same as values, to be joined with those of others. */
  read(): Promise<MetricsReading>
  readonly contentType: string
}

export type MetricsReading = MetricObjectWithValues<MetricValue<string>>[]

/** What several processes measured, as if one had. */
export function joinReadings(readings: MetricsReading[]): Promise<string> {
  return AggregatorRegistry.aggregate(readings).metrics()
}

export interface MetricsParts {
  readonly collect: () => Promise<StoreStats>
  readonly waitingClaims: () => number
  readonly now: () => number
}

export function createMetrics({ collect, waitingClaims, now }: MetricsParts): Metrics {
  const registry = new Registry()
  const meters = createMeters(registry)
  const workers = workerAges(now)
  const type = boundedLabels()
  const receiptType = boundedLabels()
  const wireNames: Partial<Record<OperationKey, string>> = {}

  async function refresh(): Promise<void> {
    meters.workerHeartbeatAge.reset()
    for (const [worker_id, ageMs] of workers.read())
      meters.workerHeartbeatAge.set({ worker_id }, ageMs / 1_000)
    meters.waitingClaims.set(waitingClaims())
    // A store that can't be read must not take the other figures with it; store_readable tells.
    showStore(meters, await collect().catch(() => undefined), now())
  }

  return {
    contentType: registry.contentType,
    onCommitted: (event) => countCommit(meters, event, { type, receiptType }),
    onRequest({ operation, outcome, durationMs }) {
      const name = (wireNames[operation] ??= wireName(operation))
      meters.requests.inc({ operation: name, code: outcome })
      meters.requestSeconds.observe({ operation: name }, durationMs / 1_000)
    },
    onClaim({ durationMs, grantedCount }) {
      meters.claimSeconds.observe({ granted: grantedCount > 0 ? 'yes' : 'no' }, durationMs / 1_000)
    },
    onWorkerSeen: ({ workerId, at }) => workers.seen(workerId, at),
    async text() {
      await refresh()
      return registry.metrics()
    },
    async read() {
      await refresh()
      return registry.getMetricsAsJSON()
    },
  }
}

type Labels = { readonly type: (name: string) => string; readonly receiptType: (name: string) => string }

function countCommit(meters: Meters, event: Committed, label: Labels): void {
  meters.batchSize.observe(event.commandCount)
  meters.commitSeconds.observe(event.durationMs / 1_000)
  const created = countBy(event.tasksCreated ?? [], ({ type }) => label.type(type))
  for (const [type, count] of created) meters.tasksCreated.inc({ type }, count)
  for (const { type, outcome, durationMs } of event.tasksEnded ?? []) {
    const labels = { type: label.type(type), outcome }
    meters.tasksEnded.inc(labels)
    meters.taskSeconds.observe(labels, durationMs / 1_000)
  }
  const granted = countBy(event.leasesGranted ?? [], ({ type }) => label.type(type))
  for (const [type, count] of granted) meters.leasesGranted.inc({ type }, count)
  for (const { type, waitedMs } of event.leasesGranted ?? []) {
    meters.taskWait.observe({ type: label.type(type) }, waitedMs / 1_000)
  }
  if (event.leasesExpired) meters.leasesExpired.inc(event.leasesExpired)
  const receipts = countBy(event.receiptTypes ?? [], label.receiptType)
  for (const [receipt_type, count] of receipts) meters.receipts.inc({ receipt_type }, count)
}

/** A commit of a thousand tasks has a few types: a meter finds its series by its labels, which costs more than counting. */
function countBy<T>(events: readonly T[], labelOf: (event: T) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const event of events) {
    const name = labelOf(event)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

function showStore(meters: Meters, stats: StoreStats | undefined, now: number): void {
  meters.storeReadable.set(stats ? 1 : 0)
  if (!stats) return
  for (const [status, count] of Object.entries(stats.byStatus)) meters.tasks.set({ status }, count)
  meters.tasksReady.set(stats.ready)
  meters.tasksDelayed.set(stats.delayed)
  meters.readyOldestAge.set(stats.oldestReadyAt === null ? 0 : Math.max(0, now - stats.oldestReadyAt) / 1_000)
  meters.activeLeases.set(stats.activeLeases)
  meters.workers.set(stats.workers)
  meters.openObligations.set(stats.openObligations)
}
