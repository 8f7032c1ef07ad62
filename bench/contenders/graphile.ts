// Graphile Worker, in the process that uses it, batched as its page on performance shows: a local queue, and completions
// that are gathered. For latency it runs without the two, since they trade latency away.
import { setTimeout as sleep } from 'node:timers/promises'
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { Pool } from 'pg'
import type { ConsumeOptions, Consuming, OpenQueue, Queue, Work } from '../players/queue.ts'

const TASK = 'bench'
const CONCURRENCY = 24
const BATCHED = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 }

const logger = new Logger(() => () => {})

export const openGraphile: OpenQueue = async ({ url }) => {
  const pgPool = new Pool({ connectionString: url, max: CONCURRENCY + 1 })
  // Without these it warns of crashes.
  pgPool.on('error', () => {})
  pgPool.on('connect', (client) => client.on('error', () => {}))
  const producer = await makeWorkerUtils({ pgPool, logger })
  await producer.migrate()
  const unfinished = async () => {
    const { rows } = await pgPool.query<{ count: number }>(
      'select count(*)::int as count from graphile_worker._private_jobs',
    )
    return rows[0]?.count ?? 0
  }
  const queue: Queue = {
    async add(work) {
      await producer.addJob(TASK, work)
    },
    async addMany(works) {
      await producer.addJobs(works.map((payload) => ({ identifier: TASK, payload })))
    },
    consume: (consuming) => startRunner({ pgPool, unfinished }, consuming),
    unfinished,
    close: async () => {
      await producer.release()
      await pgPool.end()
    },
  }
  return queue
}

async function startRunner(
  { pgPool, unfinished }: { pgPool: Pool; unfinished: () => Promise<number> },
  options: ConsumeOptions,
): Promise<Consuming> {
  let handledCount = 0
  const runner = await run({
    pgPool,
    noHandleSignals: true,
    preset: {
      worker: {
        concurrentJobs: CONCURRENCY,
        maxPoolSize: CONCURRENCY + 1,
        logger,
        ...(options.style === 'throughput' ? BATCHED : {}),
      },
    },
    taskList: {
      [TASK]: (payload) => {
        options.handled(payload as Work)
        handledCount += 1
        if (handledCount === options.expected) awaitDeletions().catch(options.failed)
      },
    },
  })

  /** It hands completions on without waiting for them; a completed job is a deleted row. */
  async function awaitDeletions(): Promise<void> {
    while ((await unfinished()) > 0) await sleep(1)
    options.completed(options.expected)
  }

  return { stop: () => Promise.resolve(runner.stop()) }
}
