// PostgreSQL goes away under a running server, and comes back: what callers and operators see meanwhile, and that
// nobody has to do anything afterwards.
import { createClient, type GateError } from '@asyncgate/sdk'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { configOf } from '../src/config.ts'
import { type RunningGate, startGate } from '../src/gate.ts'
import { openDoor } from './doors.ts'
import { createOwnedDatabase, createRoles, type RoleUrls } from './postgres-roles.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { verifies } from './requirements.ts'
import { createVirtualClock } from './virtual-clock.ts'

const KEY = 'the-key-of-the-test'
/** Far more than a reconnection takes. */
const RECOVERY = { timeout: 20_000, interval: 50 }

let postgres: PostgresServer
let roles: RoleUrls
let gate: RunningGate

beforeAll(async () => {
  postgres = await startPostgres({ fsync: true, settings: { max_connections: '30' } })
  await createRoles(postgres.url)
  roles = await createOwnedDatabase(postgres.url, 'gate')
  const config = configOf({
    port: 0,
    auth: { api_key: KEY },
    database: { url: roles.url, migration_url: roles.migrationUrl, pool_size: 5 },
    lease: {
      min_ttl_seconds: 1,
      default_ttl_seconds: 1,
      sweep_interval_seconds: 0.1,
      requeue_jitter_seconds: 0,
    },
    log: { level: 'silent' },
  })
  gate = await startGate(config)
})
afterAll(async () => {
  await gate.stop()
  await postgres.remove()
})

const client = () => createClient({ url: gate.url, apiKey: KEY, retry: false })
const page = async (path: string) => {
  const reply = await fetch(`${gate.url}${path}`)
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> }
}
const untilReady = () =>
  vi.waitFor(async () => expect((await page('/health/ready')).status).toBe(200), RECOVERY)

/** Runs while the database is away, and brings it back whatever happens. */
async function withoutDatabase(mode: 'fast' | 'immediate', look: () => Promise<void>): Promise<void> {
  await postgres.stop(mode)
  try {
    await look()
  } finally {
    await postgres.restart()
  }
  await untilReady()
}

verifies(
  'OPER-1',
  'with its database a server is ok, ready and live, and tells how durable it is',
  async () => {
    expect(await page('/health')).toMatchObject({
      status: 200,
      body: {
        status: 'ok',
        database: { kind: 'postgres', status: 'ok' },
        durability: { level: 'full' },
        workers: 0,
        oldest_pending_task: null,
      },
    })
    expect(await page('/health/ready')).toEqual({ status: 200, body: { status: 'ready' } })
    expect(await page('/health/live')).toEqual({ status: 200, body: { status: 'live' } })
  },
)

verifies('OPER-1', 'without it the server lives, but is degraded and not ready', async () => {
  await withoutDatabase('fast', async () => {
    expect(await page('/health')).toMatchObject({
      status: 200,
      body: { status: 'degraded', database: { kind: 'postgres', status: 'unavailable' } },
    })
    expect(await page('/health/ready')).toMatchObject({
      status: 503,
      body: { error: 'database_unavailable' },
    })
    expect(await page('/health/live')).toEqual({ status: 200, body: { status: 'live' } })
  })
  expect(await page('/health')).toMatchObject({ body: { status: 'ok' } })
})

verifies(
  'ERR-1',
  'without it every write and read is 503 with the time to come back, on both protocols',
  async () => {
    const { task_id, receipt_id } = await client().createTask({ type: 'kept' })
    const calls = [
      ['createTask', { type: 'lost' }],
      ['getTask', { task_id }],
      ['listTasks', {}],
      ['cancelTask', { task_id }],
      ['leaseNext', { worker_id: 'w' }],
      ['openObligations', {}],
      ['getReceipt', { receipt_id }],
      ['ackReceipt', { receipt_id }],
    ] as const
    const doors = [openDoor('REST', gate.url), openDoor('MCP', gate.url)]
    await withoutDatabase('fast', async () => {
      for (const door of doors) {
        for (const [key, input] of calls) {
          const { ok, body, status, headers } = await door.call(key, input, KEY)
          expect([key, ok, body.error, body.retryable]).toEqual([key, false, 'database_unavailable', true])
          expect(JSON.stringify(body)).not.toMatch(/ECONNREFUSED|postgres:|127\.0\.0\.1/)
          if (door.protocol === 'MCP') continue
          expect([status, Number(headers.get('retry-after'))]).toEqual([503, expect.any(Number)])
          expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
        }
      }
    })
    for (const door of doors) await door.close()
    const { tasks } = await client().listTasks({})
    expect(tasks).toMatchObject([{ task_id, status: 'queued' }])
  },
)

verifies(
  'GUAR-5',
  'service resumes by itself: a claim that waited all along gets what comes next',
  async () => {
    const waiting = client().leaseNext({ worker_id: 'patient', accept_types: ['late'], wait_seconds: 60 })
    await vi.waitFor(() => expect(gate.engine.waitingClaims()).toBe(1), RECOVERY)
    await withoutDatabase('fast', async () => {})
    const { task_id } = await client().createTask({ type: 'late' })
    expect((await waiting).tasks).toMatchObject([{ task_id }])
  },
)

verifies(
  'GUAR-5',
  'a lease that ran out during the outage is swept, and its task claimable again',
  async () => {
    const { task_id } = await client().createTask({ type: 'orphan' })
    const claim = { accept_types: ['orphan'], lease_ttl_seconds: 1 }
    expect((await client().leaseNext({ worker_id: 'gone', ...claim })).tasks).toHaveLength(1)
    await withoutDatabase('fast', async () => {})
    const again = await client().leaseNext({ worker_id: 'next', ...claim, wait_seconds: 20 })
    expect(again.tasks).toMatchObject([{ task_id, fence: 2, attempt: 0 }])
  },
)

verifies('GUAR-1', 'what was acknowledged survives a crash of the database in the middle of it', async () => {
  const created = new Map<string, string>()
  let crashed: Promise<void> | undefined
  const creators = Array.from({ length: 8 }, async (_, index) => {
    for (let round = 0; ; round += 1) {
      const idempotency_key = `${index}-${round}`
      try {
        created.set(idempotency_key, (await client().createTask({ type: 'crash', idempotency_key })).task_id)
      } catch (error) {
        expect((error as GateError).code).toBe('database_unavailable')
        return
      }
      if (created.size >= 100) crashed ??= postgres.stop('immediate')
    }
  })
  await Promise.all(creators)
  await crashed
  await postgres.restart()
  await untilReady()
  for (const [idempotency_key, task_id] of created) {
    const again = await client().createTask({ type: 'crash', idempotency_key })
    expect(again).toMatchObject({ task_id, is_duplicate: true })
  }
  expect(await gate.store.findDoubtfulObligations(10)).toEqual([])
})

verifies('OPER-5', 'a stop does not wait longer than its time for a database that hangs', async () => {
  const clock = createVirtualClock()
  const config = configOf({
    port: 0,
    auth: { api_key: KEY },
    database: { url: roles.url, migration_url: roles.migrationUrl },
    log: { level: 'silent' },
  })
  const other = await startGate(config, { clock })
  const blocker = new Client({ connectionString: roles.adminUrl })
  await blocker.connect()
  await blocker.query('begin')
  await blocker.query('lock table tasks in access exclusive mode')
  const creating = createClient({ url: other.url, apiKey: KEY, retry: false }).createTask({ type: 'work' })
  const outcome = creating.catch((error: GateError) => error.code)
  await vi.waitFor(async () => {
    const { rows } = await blocker.query(
      "select 1 from pg_locks where not granted and relation = 'tasks'::regclass",
    )
    expect(rows).toHaveLength(1)
  }, RECOVERY)
  const stopped = other.stop()
  await clock.advance(9_000)
  expect(await stopped).toBe(false)
  expect(await outcome).toBe('server_unreachable')
  await blocker.end()
})
