// Workers as processes that die, freeze, block and are told to stop, on a real server.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@asyncgate/sdk'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { type CliServer, startCliServer } from './cli-process.ts'
import { createDatabase } from './database.ts'
import { verifies } from './requirements.ts'
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts'

const KEY = 'the-key-of-the-test'
/** Leases as short as they can be, and what is lost comes back at once. */
const LEASES = {
  ASYNCGATE_LEASE_MIN_TTL_SECONDS: '1',
  ASYNCGATE_LEASE_SWEEP_INTERVAL_SECONDS: '0.1',
  ASYNCGATE_LEASE_REQUEUE_JITTER_SECONDS: '0',
}

const DATABASES = {
  sqlite: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'asyncgate-worker-'))
    const drop = () => rm(folder, { recursive: true, force: true })
    return { url: `sqlite:${join(folder, 'gate.db')}`, drop }
  },
  postgres: async () => {
    const { migrationUrl, drop } = await createDatabase()
    return { url: migrationUrl, drop }
  },
}

/** A server for one group of tests, and workers that end with each of them. */
function onServer(kind: keyof typeof DATABASES) {
  let database: { readonly url: string; drop(): Promise<unknown> }
  let server: CliServer
  const workers: WorkerProcess[] = []

  beforeAll(async () => {
    database = await DATABASES[kind]()
    const env = { ...LEASES, ASYNCGATE_AUTH_API_KEY: KEY, ASYNCGATE_DATABASE_URL: database.url }
    server = await startCliServer(['serve', '--log-level', 'error'], { cwd: tmpdir(), env })
  })
  afterAll(async () => {
    await server.stop('SIGKILL')
    await database.drop()
  })
  afterEach(async () => {
    for (const { child, exited } of workers.splice(0)) {
      child.kill('SIGKILL')
      await exited
    }
  })

  const connect = () => createClient({ url: server.url, apiKey: KEY })
  return {
    connect,
    /** `types`: which of the fixture's handlers takes which type, as `type=handler,…`. */
    start(workerId: string, types: string, env: Record<string, string> = {}): WorkerProcess {
      const gate = { GATE_URL: server.url, GATE_KEY: KEY }
      const worker = startWorkerProcess({ ...gate, WORKER_ID: workerId, TYPES: types, ...env })
      workers.push(worker)
      return worker
    },
    finished: (task_id: string) => connect().getTask({ task_id, wait_seconds: 30 }),
  }
}

describe.each(['sqlite', 'postgres'] as const)('on %s', (kind) => {
  const { start, finished, connect } = onServer(kind)

  verifies(['SDK-2', 'GUAR-5'], `a worker dies: another finishes, at no attempt, on ${kind}`, async () => {
    const first = start('first', 'job=hold')
    const { task_id } = await connect().createTask({ type: 'job' })
    await first.hear('started')
    first.child.kill('SIGKILL')
    await first.exited
    start('second', 'job=quick')
    expect(await finished(task_id)).toMatchObject({
      status: 'succeeded',
      attempt: 0,
      expiries: 1,
      fence: 2,
      result: { result: { by: 'second' } },
    })
  })

  verifies(
    ['SDK-2', 'GUAR-2'],
    `a frozen worker comes back too late and is told so, on ${kind}`,
    async () => {
      // One place only: with another, its claim that still waits at the server would be granted the task again.
      const zombie = start('zombie', 'job=hold', { CONCURRENCY: '1' })
      const { task_id } = await connect().createTask({ type: 'job' })
      await zombie.hear('started')
      zombie.child.kill('SIGSTOP')
      start('other', 'job=quick')
      const first = await finished(task_id)
      zombie.child.kill('SIGCONT')
      expect(await zombie.hear('aborted')).toMatchObject({ end: 'lost' })
      expect(await zombie.hear('told')).toMatchObject({ code: 'lease_invalid_or_expired' })
      await zombie.hear('lost')
      // On a busy machine the other may lose a lease of a second too, before it gets to report.
      expect(first.expiries).toBeGreaterThanOrEqual(1)
      expect(first).toMatchObject({ status: 'succeeded', attempt: 0, fence: first.expiries + 1 })
      expect(first.result?.result).toEqual({ by: 'other' })
      expect((await finished(task_id)).result).toEqual(first.result)
    },
  )
})

describe('on its own thread', () => {
  const { start, finished, connect } = onServer('sqlite')

  verifies('SDK-2', 'a handler that blocks the event loop for three TTLs keeps its lease', async () => {
    // Not the shortest: on a busy machine even a thread of its own may be late by half a second.
    const worker = start('blocked', 'job=block', { TTL_SECONDS: '2' })
    expect(await worker.hear('ready')).toMatchObject({ renewsFrom: 'thread' })
    const { task_id } = await connect().createTask({ type: 'job', payload: { ms: 6_100 } })
    expect(await finished(task_id)).toMatchObject({
      status: 'succeeded',
      attempt: 0,
      expiries: 0,
      fence: 1,
      result: { result: { by: 'blocked' } },
    })
  })

  verifies(
    'SDK-2',
    'SIGTERM during 20 tasks: what ends in the grace is completed, the rest released',
    async () => {
      const client = connect()
      const worker = start('draining', 'short=finish,long=hold', { GRACE_SECONDS: '1', TTL_SECONDS: '30' })
      const created = await client.createTasks({
        tasks: Array.from({ length: 20 }, (_, at) => ({ type: at % 2 === 0 ? 'short' : 'long' })),
      })
      const ids = created.tasks.map((task) => ('task_id' in task ? String(task.task_id) : ''))
      await worker.hear('started', 20)
      const stoppedAt = performance.now()
      worker.child.kill('SIGTERM')
      await worker.hear('drained')
      expect(await worker.exited).toBe(0)
      expect(performance.now() - stoppedAt).toBeLessThan(6_000)
      for (const [at, task_id] of ids.entries()) {
        const task = await client.getTask({ task_id })
        expect(task).toMatchObject({ status: at % 2 === 0 ? 'succeeded' : 'queued', attempt: 0, expiries: 0 })
      }
      // None has to be waited for: all that were given back can be claimed at once.
      const { tasks } = await client.leaseNext({ worker_id: 'next', accept_types: ['long'], max_tasks: 20 })
      expect(tasks).toHaveLength(10)
      expect(await client.listReceipts({ receipt_type: 'lease.expired' })).toMatchObject({ receipts: [] })
    },
  )
})
