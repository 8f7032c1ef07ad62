// Fills a database with tasks, and finishes them, through the operations that everybody has.
import type { GateClient } from '../contenders/gate-client.ts'
import { tellProgress } from './acts.ts'

export interface Filling {
  /** All are alike. */
  readonly task: object
  readonly count: number
  /** The principal who creates them. */
  readonly as?: object
}

export interface Finishing {
  readonly type: string
  readonly count: number
}

export interface Granted {
  readonly tasks: readonly { readonly task_id: string; readonly lease_id: string }[]
}

interface Created {
  readonly tasks: readonly { readonly task_id?: string; readonly message?: string }[]
}

const BATCH = 1_000
const FILLERS = 2
/** How many finishers should work side by side. */
export const FINISHERS = 3
const CLAIM_MAX = 400

export async function createMany(client: GateClient, { task, count, as = {} }: Filling): Promise<void> {
  let made = 0
  async function fill(): Promise<void> {
    while (made < count) {
      const size = Math.min(BATCH, count - made)
      made += size
      const tasks = Array.from({ length: size }, () => task)
      const reply = await client.post<Created>('/v1/tasks/batch', { ...as, tasks })
      const refused = reply.tasks.find(({ task_id }) => task_id === undefined)
      if (refused) throw new Error(`a task was refused: ${refused.message}`)
      tellProgress(`created ${made.toLocaleString('en')} of ${count.toLocaleString('en')}`)
    }
  }
  await Promise.all(Array.from({ length: FILLERS }, fill))
}

/** A worker for one of several loops that together claim and complete exactly so many of a type. */
export function finisher(client: GateClient, { type, count }: Finishing): () => Promise<void> {
  let left = count
  const take = () => {
    const max_tasks = Math.min(CLAIM_MAX, left)
    left -= max_tasks
    return { accept_types: [type], max_tasks }
  }
  return async () => {
    const worker_id = 'finisher'
    let claim = take()
    if (claim.max_tasks === 0) return
    let { tasks } = await client.post<Granted>('/v1/leases/claim', { worker_id, ...claim })
    while (tasks.length > 0) {
      left += claim.max_tasks - tasks.length
      tellProgress(`finished ${(count - left).toLocaleString('en')} of ${count.toLocaleString('en')}`)
      claim = take()
      ;({ tasks } = await settle(client, worker_id, { tasks, ...(claim.max_tasks > 0 ? { claim } : {}) }))
    }
    if (claim.max_tasks > 0)
      throw new Error(`${left + claim.max_tasks} of ${count} tasks were not there to finish`)
  }
}

/** Reports all of them as completed, and claims the next where asked to. */
export async function settle(
  client: GateClient,
  worker_id: string,
  { tasks, claim }: Granted & { claim?: object },
): Promise<Granted> {
  const outcomes = tasks.map(({ task_id, lease_id }) => ({
    task_id,
    lease_id,
    action: 'complete',
    result: { done: true },
    store_result: true,
  }))
  const body = { worker_id, outcomes, ...(claim ? { claim } : {}) }
  const reply = await client.post<Granted & { outcomes: { ok: boolean }[] }>('/v1/leases/settle', body)
  if (!reply.outcomes.every(({ ok }) => ok)) throw new Error('a completion was refused')
  return reply
}
