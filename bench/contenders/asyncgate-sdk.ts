// AsyncGate as most programs use it: the client and the worker of its SDK, with what they do for their users (keys against
// doing a creation twice, renewals from a thread, checksums of results).
import { createClient, createWorker } from '@asyncgate/sdk'
import type { ConsumeOptions, Consuming, OpenQueue, Queue, Work } from '../players/queue.ts'
import { type Health, unfinishedIn } from './gate-health.ts'

const TYPE = 'bench'
/** As many as a claim of the plain client takes. */
const CONCURRENCY = { throughput: 400, latency: 10 }

type Client = ReturnType<typeof createClient>

export const openAsyncGateSdk: OpenQueue = async ({ url, options }) => {
  const client = createClient({ url, apiKey: options['key'] ?? '', retry: false })
  const queue: Queue = {
    async add(work) {
      await client.createTask({ type: TYPE, payload: { ...work } })
    },
    async addMany(works) {
      const { tasks } = await client.createTasks({
        tasks: works.map((work) => ({ type: TYPE, payload: { ...work } })),
      })
      if (!tasks.every((task) => 'task_id' in task)) throw new Error('a batch was created in part')
    },
    consume: async (consuming) => startWorker(client, consuming),
    unfinished: async () => unfinishedIn((await (await fetch(`${url}/health`)).json()) as Health),
    close: async () => {},
  }
  return queue
}

function startWorker(client: Client, { style, handled, completed, failed }: ConsumeOptions): Consuming {
  const worker = createWorker({
    client,
    workerId: 'bench-0',
    concurrency: CONCURRENCY[style],
    log: false,
    onEvent: (event) => {
      if (event.kind !== 'ended') return
      if (event.outcome === 'completed') completed(1)
      else failed(event.error ?? new Error(`a task was ${event.outcome}`))
    },
  })
  worker.task<Work>(TYPE, (work) => {
    handled(work)
    return { done: true }
  })
  const running = worker.run().catch(failed)
  return {
    stop: async () => {
      await worker.stop({ graceSeconds: 0 })
      await running
    },
  }
}
