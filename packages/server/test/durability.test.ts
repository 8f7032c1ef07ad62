// Acknowledged means durable: real servers are killed in the middle of their work, and stopped in the middle of it.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Client, createClient, type GateError } from '@asyncgate/sdk'
import { afterEach, describe, expect } from 'vitest'
import { configOf } from '../src/config.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/port.ts'
import { receiptToWire } from '../src/facade/view.ts'
import { type CliServer, startCliServer } from './cli-process.ts'
import { createDatabase } from './database.ts'
import { recomputeHash } from './receipt-hash.ts'
import { verifies } from './requirements.ts'
import { wholeState } from './whole-state.ts'

const KEY = 'the-key-of-the-test'
const CREATORS = 8
const WORKERS = 8
const BATCH_SIZE = 120
const KILLS = 2

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean()
})

const DATABASES = {
  sqlite: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'asyncgate-durable-'))
    cleanups.push(() => rm(folder, { recursive: true, force: true }))
    return `sqlite:${join(folder, 'gate.db')}`
  },
  postgres: async () => {
    const database = await createDatabase()
    cleanups.push(() => database.drop())
    // One role that owns its database, as createuser and createdb make it.
    return database.migrationUrl
  },
}

async function start(url: string): Promise<{ server: CliServer; client: Client }> {
  const env = { ASYNCGATE_AUTH_API_KEY: KEY, ASYNCGATE_DATABASE_URL: url, ASYNCGATE_LOG_LEVEL: 'error' }
  const server = await startCliServer(['serve'], { cwd: tmpdir(), env })
  cleanups.push(() => server.stop('SIGKILL'))
  return { server, client: createClient({ url: server.url, apiKey: KEY, retry: false }) }
}

/** The store itself, as an auditor would read it. */
async function audit<T>(url: string, look: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(configOf({ database: { url } }))
  try {
    return await look(store)
  } finally {
    await store.close()
  }
}

/** What callers were told, and so may rely on. */
interface Promised {
  /** Idempotency key → task and assigned receipt. */
  readonly created: Map<string, { task_id: string; receipt_id: string }>
  /** Task → receipt of its completion. */
  readonly completed: Map<string, string>
  /** Everything that was ever asked to be created. */
  readonly wanted: Set<string>
}

const acknowledgements = ({ created, completed }: Promised) => created.size + completed.size

/** Creates and completes until the server is gone. `onAcknowledged` hears of each answer. */
async function hammer(client: Client, promised: Promised, onAcknowledged: () => void): Promise<void> {
  const want = (index: number, round: number) => {
    const idempotency_key = `${index}-${round}-${promised.wanted.size}`
    promised.wanted.add(idempotency_key)
    return { type: 'work', idempotency_key, payload: { round } }
  }
  const creators = Array.from({ length: CREATORS }, (_, index) =>
    untilGone(async (round) => {
      const task = want(index, round)
      promised.created.set(task.idempotency_key, await client.createTask(task))
      onAcknowledged()
    }),
  )
  // Large commits may be written in another way than small ones.
  const batches = untilGone(async (round) => {
    const tasks = Array.from({ length: BATCH_SIZE }, () => want(CREATORS, round))
    const { tasks: created } = await client.createTasks({ tasks })
    for (const [at, { idempotency_key }] of tasks.entries()) {
      const made = created[at]!
      if ('error' in made) throw new Error(made.message)
      promised.created.set(idempotency_key, made)
    }
    onAcknowledged()
  })
  const workers = Array.from({ length: WORKERS }, (_, index) =>
    untilGone(async () => {
      const worker_id = `w${index}`
      const { tasks } = await client.leaseNext({ worker_id, max_tasks: 2, lease_ttl_seconds: 10 })
      for (const { task_id, lease_id } of tasks) {
        const reply = await client.complete({
          worker_id,
          task_id,
          lease_id,
          result: index,
          store_result: true,
        })
        promised.completed.set(task_id, reply.receipt_id)
        onAcknowledged()
      }
    }),
  )
  await Promise.all([...creators, batches, ...workers])
}

async function untilGone(act: (round: number) => Promise<void>): Promise<void> {
  for (let round = 0; ; round += 1) {
    try {
      await act(round)
    } catch (error) {
      // The server is gone or about to go: that is what the test is about. Anything else is a failure.
      if (['server_unreachable', 'database_unavailable'].includes((error as GateError).code)) return
      throw error
    }
  }
}

/** Whatever was acknowledged is there, and whatever is there is whole. */
async function verify(url: string, promised: Promised): Promise<void> {
  await audit(url, async (store) => {
    const { tasks, receipts } = await wholeState(store, 'default')
    const statuses = new Map(tasks.map(({ definition, state }) => [definition.taskId, state.status]))
    const byId = new Map(receipts.map(({ receipt }) => [receipt.receiptId, receipt]))
    for (const { task_id, receipt_id } of promised.created.values()) {
      expect(byId.get(receipt_id)).toMatchObject({ receiptType: 'task.assigned', taskId: task_id })
    }
    for (const [task_id, receipt_id] of promised.completed) {
      expect(statuses.get(task_id)).toBe('succeeded')
      expect(byId.get(receipt_id)).toMatchObject({ receiptType: 'task.completed', taskId: task_id })
    }
    expect(await store.findDoubtfulObligations(10)).toEqual([])
    expectWholeLedger(receipts)
    const ended = tasks.filter(({ state }) => state.status === 'succeeded').length
    const ready = receipts.filter(({ receipt }) => receipt.receiptType === 'task.result_ready')
    const assigned = receipts.filter(({ receipt }) => receipt.receiptType === 'task.assigned')
    expect([ready.length, assigned.length]).toEqual([ended, tasks.length])
    expect(new Set(ready.map(({ receipt }) => receipt.taskId)).size).toBe(ready.length)
  })
}

/** Positions without a gap, parents that came before, hashes that can be recomputed. */
function expectWholeLedger(receipts: Awaited<ReturnType<typeof wholeState>>['receipts']): void {
  expect(receipts.map(({ position }) => position)).toEqual(receipts.map((_, index) => index + 1))
  const seen = new Set<string>()
  for (const { receipt } of receipts) {
    expect(receipt.parents.filter((parent) => !seen.has(parent))).toEqual([])
    expect(recomputeHash(receiptToWire(receipt))).toBe(receipt.hash)
    seen.add(receipt.receiptId)
  }
}

describe.each(['sqlite', 'postgres'] as const)('on %s', (kind) => {
  verifies('GUAR-1', `what was acknowledged survives kill -9 at any moment, on ${kind}`, async () => {
    const url = await DATABASES[kind]()
    const promised: Promised = { created: new Map(), completed: new Map(), wanted: new Set() }
    for (let kill = 0; kill < KILLS; kill += 1) {
      const { server, client } = await start(url)
      const killAt = acknowledgements(promised) + randomInt(20, 200)
      let killed: Promise<unknown> | undefined
      await hammer(client, promised, () => {
        if (acknowledgements(promised) >= killAt) killed ??= server.stop('SIGKILL')
      })
      await killed
      await verify(url, promised)
    }
    // Who was not answered asks again; in the end every key has one task.
    const { client } = await start(url)
    for (const idempotency_key of promised.wanted) {
      const round = Number(idempotency_key.split('-')[1])
      const again = await client.createTask({ type: 'work', idempotency_key, payload: { round } })
      const first = promised.created.get(idempotency_key)
      if (first) expect(again).toMatchObject({ is_duplicate: true, task_id: first.task_id })
    }
    const { tasks } = await audit(url, (store) => wholeState(store, 'default'))
    expect(tasks).toHaveLength(promised.wanted.size)
  })

  verifies(
    'OPER-5',
    `SIGTERM answers what is under way and exits with 0 within 10 s, on ${kind}`,
    async () => {
      const url = await DATABASES[kind]()
      const { server, client } = await start(url)
      const { task_id } = await client.createTask({ type: 'other' })
      const waiting = [
        client.leaseNext({ worker_id: 'w', accept_types: ['none'], wait_seconds: 60 }),
        client.getTask({ task_id, wait_seconds: 60 }),
      ] as const
      const batches = await Promise.all(
        Array.from({ length: 12 }, () => send(server, '/v1/tasks/batch', BATCH)),
      )
      // Connections are accepted in their order: once a new one is answered, all of those are with the server.
      const marker = await send(server, '/v1/leases/claim', '{"worker_id":"w","accept_types":["none"]}')
      expect(await marker.reply).toEqual({ status: 200, body: '{"tasks":[]}' })
      const stopped = performance.now()
      const exit = server.stop('SIGTERM')
      expect(await waiting[0]).toEqual({ tasks: [] })
      expect((await waiting[1]).status).toBe('queued')
      expect(performance.now() - stopped).toBeLessThan(5_000)
      const replies = await Promise.all(batches.map((batch) => batch.reply))
      expect(replies.map((reply) => reply.status)).toEqual(Array(12).fill(200))
      expect(await exit).toBe(0)
      expect(performance.now() - stopped).toBeLessThan(10_000)
      const { tasks } = await audit(url, (store) => wholeState(store, 'default'))
      expect(tasks).toHaveLength(1 + 12 * 100)
    },
  )

  verifies(
    'OPER-5',
    `a stop while workers work loses nothing of what they were told, on ${kind}`,
    async () => {
      const url = await DATABASES[kind]()
      const promised: Promised = { created: new Map(), completed: new Map(), wanted: new Set() }
      const { server, client } = await start(url)
      let exit: Promise<number | null> | undefined
      await hammer(client, promised, () => {
        if (acknowledgements(promised) >= 150) exit ??= server.stop('SIGTERM')
      })
      expect(await exit).toBe(0)
      await verify(url, promised)
    },
  )
})

const BATCH = JSON.stringify({
  tasks: Array.from({ length: 100 }, (_, at) => ({ type: 'work', payload: { at, text: 'a'.repeat(2_000) } })),
})

/** Resolves when the request is on its way, with the promise of its reply. */
async function send({ url }: CliServer, path: string, body: string) {
  const { hostname, port } = new URL(url)
  const headers = {
    authorization: `Bearer ${KEY}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  }
  const sent = request({ hostname, port, path, method: 'POST', headers, agent: false })
  const reply = (async () => {
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return { status: response.statusCode, body: await text(response) }
  })()
  sent.end(body)
  await once(sent, 'finish')
  return { reply }
}
