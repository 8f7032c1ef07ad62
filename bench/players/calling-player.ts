// A process that calls AsyncGate's operations themselves: the same call again and again, page after page, or to fill a
// database.
import { createGateClient, type GateAddress, type GateClient } from '../contenders/gate-client.ts'
import { serveActs } from './acts.ts'
import { nowMs } from './clock.ts'
import {
  createMany,
  type Filling,
  FINISHERS,
  finisher,
  type Finishing,
  type Granted,
  settle,
} from './filling.ts'

export interface PlainCall {
  readonly path: string
  /** Absent: a GET. */
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Called {
  readonly startedAt: number
  readonly endedAt: number
  /** Of each call, in milliseconds. */
  readonly latencies: readonly number[]
}

const CONNECTIONS = 64

let opened: GateClient | undefined

const acts = {
  async open(address: GateAddress) {
    opened = createGateClient(address, CONNECTIONS)
  },
  /** One answer, to look at. */
  call: (call: PlainCall) => perform(call),
  async repeat({
    call,
    count,
    callers,
  }: {
    call: PlainCall
    count: number
    callers: number
  }): Promise<Called> {
    let left = count
    return timed(callers, async (latencies) => {
      while (left > 0) {
        left -= 1
        latencies.push(await timeOf(() => perform(call)))
      }
    })
  },
  /** Follows the cursor; stops after the last page. */
  async readPages({ path, pagesMax }: { path: string; pagesMax: number }): Promise<Called> {
    return timed(1, async (latencies) => {
      let next: string | null = path
      while (next !== null && latencies.length < pagesMax) {
        const startedAt = nowMs()
        const { cursor, next_cursor }: Page = await client().get<Page>(next)
        latencies.push(nowMs() - startedAt)
        next = nextPath(path, cursor ?? next_cursor ?? null)
      }
    })
  },
  /** Claims and completes single tasks, one after the other: what a lone worker waits for. */
  async workSingly({ type, count }: { type: string; count: number }): Promise<Called> {
    return timed(1, async (latencies) => {
      for (let at = 0; at < count; at += 1) {
        const worker_id = 'single'
        latencies.push(
          await timeOf(async () => {
            const claim = { worker_id, accept_types: [type] }
            const { tasks } = await client().post<Granted>('/v1/leases/claim', claim)
            if (tasks.length !== 1) throw new Error('there was nothing to claim')
            await settle(client(), worker_id, { tasks })
          }),
        )
      }
    })
  },
  createMany: (load: Filling) => createMany(client(), load),
  finishMany: (load: Finishing) => timed(FINISHERS, finisher(client(), load)),
}

export type CallingActs = typeof acts

interface Page {
  readonly cursor?: string | null
  readonly next_cursor?: string | null
}

function nextPath(path: string, cursor: string | null): string | null {
  if (cursor === null) return null
  return `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`
}

async function perform({ path, body, headers = {} }: PlainCall): Promise<unknown> {
  if (body === undefined) return client().get(path)
  const reply = await client().send<{ error?: unknown; result?: { isError?: boolean } }>(path, body, headers)
  // JSON-RPC answers 200 to what failed.
  if (reply.error || reply.result?.isError) throw new Error(`${path} failed: ${JSON.stringify(reply)}`)
  return reply
}

async function timed(callers: number, call: (latencies: number[]) => Promise<void>): Promise<Called> {
  const latencies: number[] = []
  const startedAt = nowMs()
  await side(callers, () => call(latencies))
  return { startedAt, endedAt: nowMs(), latencies }
}

async function timeOf(call: () => Promise<unknown>): Promise<number> {
  const startedAt = nowMs()
  await call()
  return nowMs() - startedAt
}

async function side(callers: number, call: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: callers }, call))
}

function client(): GateClient {
  if (opened === undefined) throw new Error('the client is not open')
  return opened
}

serveActs(acts)
