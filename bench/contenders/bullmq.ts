// BullMQ, in the process that uses it: on PostgreSQL with its own backend for that, or on Redis.
import { createPostgresBackend, Queue as BullQueue, Worker, type Processor } from 'bullmq'
import type { ConsumeOptions, Consuming, OpenQueue, Queue, Work } from '../players/queue.ts'

const QUEUE = 'bench'
const CONCURRENCY = { throughput: 100, latency: 10 }
const POOL = 20

export const openBullmq: OpenQueue = async ({ url, options }) => {
  const redis = options['on'] === 'redis'
  const producer = redis ? onRedis(url) : onPostgres(url)
  await producer.waitUntilReady()
  const queue: Queue = {
    async add(work) {
      await producer.add('task', work)
    },
    async addMany(works) {
      await producer.addBulk(works.map((data) => ({ name: 'task', data })))
    },
    consume: async (consuming) => {
      const concurrency = CONCURRENCY[consuming.style]
      const handle: Processor<Work> = async ({ data }) => consuming.handled(data)
      const worker = redis
        ? new Worker<Work>(QUEUE, handle, { connection: redisAt(url), concurrency })
        : new Worker(QUEUE, handle, { connection: postgresAt(url), concurrency }, createPostgresBackend)
      return observe(worker, consuming)
    },
    async unfinished() {
      const counts = await producer.getJobCounts('waiting', 'active', 'delayed', 'prioritized', 'failed')
      return Object.values(counts).reduce((sum, count) => sum + count, 0)
    },
    close: () => producer.close(),
  }
  return queue
}

const postgresAt = (connectionString: string) => ({ connectionString, max: POOL, migrate: true })
const redisAt = (url: string) => ({ url, maxRetriesPerRequest: null })

function onPostgres(url: string) {
  return new BullQueue(QUEUE, { connection: postgresAt(url) }, createPostgresBackend)
}

function onRedis(url: string) {
  return new BullQueue(QUEUE, { connection: redisAt(url) })
}

interface Observed {
  on(event: 'completed', listener: () => void): unknown
  on(event: 'failed', listener: (job: unknown, error: Error) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  waitUntilReady(): Promise<unknown>
  close(): Promise<void>
}

async function observe(worker: Observed, { completed, failed }: ConsumeOptions): Promise<Consuming> {
  worker.on('completed', () => completed(1))
  worker.on('failed', (_job, error) => failed(error))
  worker.on('error', failed)
  await worker.waitUntilReady()
  return { stop: () => worker.close() }
}
