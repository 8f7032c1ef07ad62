// The list of metrics: names, labels, buckets. Labels are few, since every value of one is a series for ever.
import { type Aggregator, Counter, Gauge, Histogram, type Registry } from 'prom-client'

export type Meters = ReturnType<typeof createMeters>

/** From a commit on fast storage to a call that was held for a minute. */
const CALL_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** From an echo to a day's work. */
const TASK_BUCKETS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400]
const BATCH_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]

export function createMeters(registry: Registry) {
  const registers = [registry]
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name: `asyncgate_${name}`, help, labelNames, registers })
  // Where several processes serve as one, they all read the same store, so one reading stands for all: the largest, since
  // one of them may not have been able to read it.
  const gauge = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    aggregator: Aggregator = 'max',
  ) => new Gauge({ name: `asyncgate_${name}`, help, labelNames, registers, aggregator })
  const histogram = <L extends string>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly L[] = [],
  ) => new Histogram({ name: `asyncgate_${name}`, help, labelNames, buckets, registers })
  return {
    tasksCreated: counter('tasks_created_total', 'Tasks created.', ['type']),
    tasksEnded: counter('tasks_ended_total', 'Tasks that ended, by outcome.', ['type', 'outcome']),
    taskSeconds: histogram('task_duration_seconds', 'From creation to the end.', TASK_BUCKETS, [
      'type',
      'outcome',
    ]),
    taskWait: histogram('task_wait_seconds', 'From being eligible to the lease.', TASK_BUCKETS, ['type']),
    leasesGranted: counter('leases_granted_total', 'Leases granted.', ['type']),
    leasesExpired: counter('leases_expired_total', 'Leases that expired.'),
    receipts: counter('receipts_total', 'Receipts written.', ['receipt_type']),
    requests: counter('requests_total', 'Requests answered.', ['operation', 'code']),
    requestSeconds: histogram('request_duration_seconds', 'Time to answer.', CALL_BUCKETS, ['operation']),
    claimSeconds: histogram('claim_duration_seconds', 'Time to answer a claim.', CALL_BUCKETS, ['granted']),
    waitingClaims: gauge('waiting_claims', 'Claims held until there is work.', [], 'sum'),
    batchSize: histogram('commit_batch_size', 'Commands in one commit.', BATCH_BUCKETS),
    commitSeconds: histogram('commit_duration_seconds', 'Time of one durable commit.', CALL_BUCKETS),
    tasks: gauge('tasks', 'Tasks in the store, by status.', ['status']),
    tasksReady: gauge('tasks_ready', 'Queued tasks that a worker could be given now.'),
    tasksDelayed: gauge('tasks_delayed', 'Queued tasks that are not eligible yet.'),
    readyOldestAge: gauge(
      'ready_oldest_age_seconds',
      'Age of the task that has been ready longest; 0 without one.',
    ),
    activeLeases: gauge('active_leases', 'Leases in force.'),
    workers: gauge('workers', 'Workers that hold a lease.'),
    openObligations: gauge('open_obligations', 'Obligations that nothing has discharged.'),
    storeReadable: gauge('store_readable', '1 when the gauges of the store could be read, else 0.'),
    workerHeartbeatAge: gauge(
      'worker_heartbeat_age_seconds',
      'Since the last call of a worker here.',
      ['worker_id'],
      'min',
    ),
  }
}
