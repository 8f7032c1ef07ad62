// pg-boss, in the process that uses it. For throughput: insert() with arrays, and fetch() and complete() in batches.
// For latency: work() on a queue that notifies, which its documentation gives as the way to low latency.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Job, PgBoss } from 'pg-boss'
import type { ConsumeOptions, Consuming, OpenQueue, Queue, Work } from '../players/queue.ts'

const QUEUE = 'bench'
const BATCH = 1_000
const LOOPS = 2
/** work() looks at most every half second; fetch() may be called whenever one likes. */
const IDLE_MS = 10

export const openPgBoss: OpenQueue = async ({ url, options }) => {
  const notify = options['notify'] === 'yes'
  const boss = new PgBoss({ connectionString: url, schedule: false, useListenNotify: notify })
  boss.on('error', (error) => {
    throw error
  })
  await boss.start()
  await boss.createQueue(QUEUE, { notify })
  const queue: Queue = {
    async add(work) {
      if ((await boss.send(QUEUE, work)) === null) throw new Error('pg-boss did not take a job')
    },
    async addMany(works) {
      await boss.insert(
        QUEUE,
        works.map((data) => ({ data })),
      )
    },
    consume: (consuming) =>
      consuming.style === 'latency' ? startWorker(boss, consuming) : startLoops(boss, consuming),
    async unfinished() {
      const text = `select count(*)::int as count from pgboss.job where name = $1 and state < 'completed'`
      const { rows } = await boss.getDb().executeSql(text, [QUEUE])
      return (rows as { count: number }[])[0]?.count ?? 0
    },
    close: () => boss.stop({ graceful: false }),
  }
  return queue
}

async function startLoops(boss: PgBoss, options: ConsumeOptions): Promise<Consuming> {
  const stopping = new AbortController()
  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const jobs: Job<Work>[] = await boss.fetch<Work>(QUEUE, { batchSize: BATCH })
      for (const { data } of jobs) options.handled(data)
      if (jobs.length === 0) {
        await sleep(IDLE_MS)
        continue
      }
      const response = await boss.complete(
        QUEUE,
        jobs.map(({ id }) => id),
      )
      // Its type is declared empty; its documentation names this count.
      options.completed((response as { affected: number }).affected)
    }
  }
  const loops = Array.from({ length: LOOPS }, () => loop().catch(options.failed))
  return {
    stop: async () => {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}

async function startWorker(boss: PgBoss, { handled, completed }: ConsumeOptions): Promise<Consuming> {
  const pace = { batchSize: 50, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true }
  await boss.work<Work>(QUEUE, pace, async (jobs) => {
    for (const { data } of jobs) handled(data)
    // Completed by work() once this returns; whoever measures latency checks at the end that all were.
    completed(jobs.length)
  })
  return { stop: () => boss.offWork(QUEUE) }
}
