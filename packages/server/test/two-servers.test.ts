// Two servers on one PostgreSQL, fifty workers, thousands of tasks, the same keys asked for twice and tasks canceled
// while they are worked on: nothing that the ledger shows afterwards may break a promise.
import { randomInt } from 'node:crypto'
import { tmpdir } from 'node:os'
import { type Client, createClient, GateError } from '@asyncgate/sdk'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { configOf } from '../src/config.ts'
import type { Receipt } from '../src/engine/model.ts'
import { openStore } from '../src/store/open.ts'
import { type CliServer, startCliServer } from './cli-process.ts'
import { createDatabase, type TestDatabase } from './database.ts'
import { verifies } from './requirements.ts'
import { wholeState } from './whole-state.ts'

const KEY = 'the-key-of-the-test'
const TASKS = 2_000
const WORKERS = 50
/** Short, so that abandoned leases are lost and swept within the test. */
const TTL_SECONDS = 2
const TERMINAL = ['task.completed', 'task.failed', 'task.canceled']

interface Grant {
  readonly task_id: string
  readonly lease_id: string
  readonly fence: number
}

/** What the two servers told their callers. */
interface Told {
  /** By idempotency key: every answer to a creation with it. */
  readonly created: Map<string, string[]>
  readonly grants: Grant[]
  readonly completed: Map<string, string>
  readonly canceled: Set<string>
}

describe('two servers on one PostgreSQL', () => {
  let database: TestDatabase
  let servers: CliServer[]
  let told: Told
  let state: Awaited<ReturnType<typeof wholeState>>
  let doubtful: readonly string[]

  beforeAll(async () => {
    database = await createDatabase()
    servers = [await start(database), await start(database)]
    told = await work(servers)
    for (const server of servers) expect(await server.stop('SIGTERM')).toBe(0)
    const store = await openStore(configOf({ database: { url: database.url } }))
    state = await wholeState(store, 'default')
    doubtful = await store.findDoubtfulObligations(10)
    await store.close()
  }, 120_000)
  afterAll(async () => {
    for (const server of servers) await server.stop('SIGKILL')
    await database.drop()
  })

  const receiptsOf = (...types: string[]) =>
    state.receipts.map(({ receipt }) => receipt).filter((receipt) => types.includes(receipt.receiptType))

  const byTask = (receipts: readonly Receipt[]) => Map.groupBy(receipts, (receipt) => receipt.taskId!)

  verifies('TASK-2', 'a key that was asked for on both servers at once has one task', () => {
    expect(told.created.size).toBe(TASKS)
    for (const [key, answers] of told.created) expect([key, new Set(answers).size]).toEqual([key, 1])
    expect(state.tasks).toHaveLength(TASKS)
    expect(receiptsOf('task.assigned')).toHaveLength(TASKS)
  })

  verifies('LEASE-1', 'no two leases of a task were in force at one time', () => {
    // A grant to a claim whose wait was just over is given back at once, without a receipt and without a holder.
    const known = new Set(told.grants.map((grant) => grant.lease_id))
    for (const receipts of byTask(receiptsOf('task.accepted', ...ENDS_OF_LEASES)).values()) {
      let held: string | null = null
      for (const { receiptType, leaseId } of receipts) {
        if (receiptType !== 'task.accepted') held = null
        else if (known.has(leaseId!)) {
          expect(held).toBeNull()
          held = leaseId
        }
      }
    }
  })

  verifies('LEASE-1', 'no task and fence were handed out twice, and fences grow by one', () => {
    const grants = Map.groupBy(told.grants, (grant) => grant.task_id)
    const accepted = byTask(receiptsOf('task.accepted'))
    for (const {
      definition,
      state: { fence },
    } of state.tasks) {
      const fences = (grants.get(definition.taskId) ?? [])
        .map((grant) => grant.fence)
        .toSorted((a, b) => a - b)
      expect(new Set(fences).size).toBe(fences.length)
      expect(accepted.get(definition.taskId) ?? []).toHaveLength(fence)
      expect(fences.at(-1) ?? 0).toBeLessThanOrEqual(fence)
    }
  })

  verifies('GUAR-2', 'every task has ended, with one outcome and one result_ready', () => {
    const outcomes = byTask(receiptsOf(...TERMINAL))
    const ready = byTask(receiptsOf('task.result_ready'))
    for (const {
      definition: { taskId },
      state: { status },
    } of state.tasks) {
      expect(outcomes.get(taskId)?.map((receipt) => receipt.receiptType)).toEqual([
        TYPE_OF[status as 'failed'],
      ])
      expect(ready.get(taskId)?.map((receipt) => receipt.body['status'])).toEqual([status])
    }
  })

  verifies('GUAR-1', 'everything that was acknowledged is there', () => {
    const tasks = new Map(state.tasks.map((task) => [task.definition.taskId, task]))
    const receipts = new Map(state.receipts.map(({ receipt }) => [receipt.receiptId, receipt]))
    for (const [key, [task_id]] of told.created)
      expect(tasks.get(task_id!)?.definition.idempotencyKey).toBe(key)
    for (const [task_id, receipt_id] of told.completed) {
      expect(tasks.get(task_id)?.state).toMatchObject({ status: 'succeeded', terminalReceiptId: receipt_id })
      expect(receipts.get(receipt_id)?.receiptType).toBe('task.completed')
    }
    for (const task_id of told.canceled) expect(tasks.get(task_id)?.state.status).toBe('canceled')
    expect(told.completed.size + told.canceled.size).toBeGreaterThan(TASKS / 2)
  })

  verifies('LEASE-7', 'each lost lease was swept exactly once, whichever server found it', () => {
    const swept = receiptsOf('lease.expired').map((receipt) => receipt.leaseId)
    expect(new Set(swept).size).toBe(swept.length)
    expect(swept.length).toBeGreaterThan(0)
    const lost = byTask(receiptsOf('lease.expired'))
    for (const { definition, state: of } of state.tasks) {
      expect([lost.get(definition.taskId)?.length ?? 0, 0]).toEqual([of.expiries, of.attempt])
    }
  })

  verifies(['RCPT-10', 'OBL-2'], 'the ledger has no gap, and its obligations agree with it', () => {
    expect(state.receipts.map(({ position }) => position)).toEqual(
      state.receipts.map((_, index) => index + 1),
    )
    const seen = new Set<string>()
    for (const { receipt } of state.receipts) {
      expect(receipt.parents.every((parent) => seen.has(parent))).toBe(true)
      seen.add(receipt.receiptId)
    }
    expect(doubtful).toEqual([])
  })
})

const TYPE_OF = { succeeded: 'task.completed', failed: 'task.failed', canceled: 'task.canceled' } as const
const ENDS_OF_LEASES = ['lease.expired', 'task.completed', 'task.canceled']

function start({ url, migrationUrl }: TestDatabase): Promise<CliServer> {
  const env = {
    ASYNCGATE_AUTH_API_KEY: KEY,
    ASYNCGATE_DATABASE_URL: url,
    ASYNCGATE_DATABASE_MIGRATION_URL: migrationUrl,
    ASYNCGATE_LOG_LEVEL: 'error',
    ASYNCGATE_LEASE_MIN_TTL_SECONDS: '1',
    ASYNCGATE_LEASE_SWEEP_INTERVAL_SECONDS: '0.5',
    ASYNCGATE_LEASE_REQUEUE_JITTER_SECONDS: '0.2',
  }
  return startCliServer(['serve'], { cwd: tmpdir(), env })
}

async function work(servers: readonly CliServer[]): Promise<Told> {
  const clients = servers.map(({ url }) => createClient({ url, apiKey: KEY }))
  const told: Told = { created: new Map(), grants: [], completed: new Map(), canceled: new Set() }
  const goesOn = () => told.completed.size + told.canceled.size < TASKS
  const creating = Promise.all(clients.map((client) => createAll(client, told)))
  const canceling = Promise.all(clients.map((client) => cancelSome(client, told, goesOn)))
  const working = Array.from({ length: WORKERS }, (_, index) =>
    workUntilDone({ client: clients[index % 2]!, worker_id: `w${index}`, told, goesOn }),
  )
  await creating
  await Promise.all(working)
  await canceling
  return told
}

/** Each server is asked for every key, in batches that overlap with those of the other. */
async function createAll(client: Client, told: Told): Promise<void> {
  const BATCH = 100
  for (let from = 0; from < TASKS; from += BATCH) {
    const keys = Array.from({ length: BATCH }, (_, index) => `key-${from + index}`)
    const { tasks } = await client.createTasks({
      tasks: keys.map((idempotency_key) => ({ type: 'work', idempotency_key })),
    })
    for (const [index, key] of keys.entries()) {
      const { task_id } = tasks[index] as { task_id: string }
      told.created.set(key, [...(told.created.get(key) ?? []), task_id])
    }
  }
}

async function cancelSome(client: Client, told: Told, goesOn: () => boolean): Promise<void> {
  while (goesOn()) {
    const { tasks } = await client.listTasks({ limit: 40, status: randomInt(2) === 0 ? 'queued' : 'leased' })
    for (const { task_id } of tasks.filter(() => randomInt(10) === 0)) {
      const { ok } = await client.cancelTask({ task_id })
      if (ok) told.canceled.add(task_id)
    }
    // A claim that nothing fits is a pause of a second.
    if (tasks.length === 0)
      await client.leaseNext({ worker_id: 'nobody', accept_types: ['none'], wait_seconds: 1 })
  }
}

interface Worker {
  readonly client: Client
  readonly worker_id: string
  readonly told: Told
  readonly goesOn: () => boolean
}

/** Takes a few, completes most, abandons one now and then, and reports what it has lost without fuss. */
async function workUntilDone({ client, worker_id, told, goesOn }: Worker): Promise<void> {
  while (goesOn()) {
    const { tasks } = await client.leaseNext({
      worker_id,
      max_tasks: randomInt(1, 8),
      lease_ttl_seconds: TTL_SECONDS,
      wait_seconds: 1,
    })
    told.grants.push(...tasks.map(({ task_id, lease_id, fence }) => ({ task_id, lease_id, fence })))
    for (const { task_id, lease_id } of tasks) {
      if (randomInt(100) === 0) continue // as if it had crashed
      try {
        const reply = await client.complete({
          worker_id,
          task_id,
          lease_id,
          result: worker_id,
          store_result: true,
        })
        told.completed.set(task_id, reply.receipt_id)
      } catch (error) {
        // Canceled meanwhile, or lost: either is for the ledger to prove.
        if (!(error instanceof GateError) || error.code !== 'lease_invalid_or_expired') throw error
      }
    }
  }
}
