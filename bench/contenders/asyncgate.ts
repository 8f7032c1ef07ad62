// AsyncGate, from outside: every call is an HTTP request to another process. A creation is one create_task; a worker
// reports a batch and claims the next one with one settle.
import type { ConsumeOptions, Consuming, OpenQueue, Queue, Work } from '../players/queue.ts'
import { createGateClient, type GateClient } from './gate-client.ts'
import { type Health, unfinishedIn } from './gate-health.ts'

const TYPE = 'bench'
/** One connection for each caller and each loop of the worker. */
const CONNECTIONS = 64
/** Loops that settle side by side: while one batch is being committed, the next is on its way. */
const LOOPS = { throughput: 3, latency: 8 }
const CLAIM_MAX = { throughput: 400, latency: 10 }
const WAIT_SECONDS = 20

interface Granted {
  readonly task_id: string
  readonly lease_id: string
  readonly payload: Work
}

interface Settled {
  readonly outcomes: readonly { readonly ok: boolean }[]
  readonly tasks: readonly Granted[]
}

export const openAsyncGate: OpenQueue = async ({ url, options }) => {
  const client = createGateClient({ url, key: options['key'] ?? '' }, CONNECTIONS)
  const queue: Queue = {
    async add(work) {
      const { task_id } = await client.post<{ task_id: string }>('/v1/tasks', { type: TYPE, payload: work })
      if (!task_id) throw new Error('a creation without a task')
    },
    async addMany(works) {
      const tasks = works.map((work) => ({ type: TYPE, payload: work }))
      const reply = await client.post<{ tasks: { task_id?: string }[] }>('/v1/tasks/batch', { tasks })
      if (!reply.tasks.every(({ task_id }) => task_id)) throw new Error('a batch was created in part')
    },
    consume: async (consuming) => startWorker(client, consuming),
    unfinished: async () => unfinishedIn(await client.get<Health>('/health')),
    close: () => client.close(),
  }
  return queue
}

function startWorker(client: GateClient, options: ConsumeOptions): Consuming {
  const stopping = new AbortController()
  const loops = Array.from({ length: LOOPS[options.style] }, (_, at) =>
    workLoop(client, { ...options, workerId: `bench-${at}`, signal: stopping.signal }).catch(
      (error: unknown) => {
        if (!stopping.signal.aborted) options.failed(error)
      },
    ),
  )
  return {
    stop: async () => {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}

interface LoopOptions extends ConsumeOptions {
  readonly workerId: string
  readonly signal: AbortSignal
}

/** A settle does not wait for work, since that would hold back the answer to what it reports; the claim after it does. */
async function workLoop(client: GateClient, options: LoopOptions): Promise<void> {
  const { workerId: worker_id, style, signal, handled, completed } = options
  const claim = { accept_types: [TYPE], max_tasks: CLAIM_MAX[style] }
  let tasks: readonly Granted[] = []
  while (!signal.aborted) {
    if (tasks.length === 0) {
      const waiting = { worker_id, ...claim, wait_seconds: WAIT_SECONDS }
      ;({ tasks } = await client.post<{ tasks: Granted[] }>('/v1/leases/claim', waiting, { signal }))
      continue
    }
    for (const { payload } of tasks) handled(payload)
    const outcomes = tasks.map(({ task_id, lease_id }) => ({
      task_id,
      lease_id,
      action: 'complete',
      result: { done: true },
      store_result: true,
    }))
    const settled = await client.post<Settled>('/v1/leases/settle', { worker_id, outcomes, claim })
    if (!settled.outcomes.every(({ ok }) => ok)) throw new Error('a completion was refused')
    completed(settled.outcomes.length)
    tasks = settled.tasks
  }
}
