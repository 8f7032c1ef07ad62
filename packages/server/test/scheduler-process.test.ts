// Schedulers as processes that are killed, side by side, on a real server with keys.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@asyncgate/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COMPILED, type CliServer, runCommand, startCliServer } from './cli-process.ts'
import { verifies } from './requirements.ts'

const MAIN = join(import.meta.dirname, '../src/cli/main.ts')
const ADMIN = 'the-key-of-the-test'
const SCOPES = 'tasks:lease,tasks:write,receipts:read,receipts:write'

let folder: string
let server: CliServer
let keys: { readonly scheduler: string; readonly owner: string }
const children = new Set<ChildProcess>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'asyncgate-scheduler-'))
  const env = { ASYNCGATE_AUTH_API_KEY: ADMIN, ASYNCGATE_LEASE_SWEEP_INTERVAL_SECONDS: '0.5' }
  server = await startCliServer(['serve', '--log-level', 'error'], { cwd: folder, env })
  const admin = createClient({ url: server.url, apiKey: ADMIN })
  const made = async (role: 'service' | 'agent', kind: 'service' | 'agent', id: string, scopes?: string) =>
    (
      await admin.createKey({
        role,
        principal: { principal_kind: kind, principal_id: id },
        ...(scopes !== undefined && { scopes: scopes.split(',') as ['tasks:lease'] }),
      })
    ).api_key
  keys = {
    scheduler: await made('service', 'service', 'scheduler', SCOPES),
    owner: await made('agent', 'agent', 'alice'),
  }
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await server.stop('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

const env = (key: string) => ({ ASYNCGATE_URL: server.url, ASYNCGATE_API_KEY: key })

/** A process, and how to end it. */
function startScheduler(file: string, key = keys.scheduler) {
  const { PATH } = process.env
  const args = [MAIN, 'scheduler', '--json', '--file', join(folder, file)]
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH, ...COMPILED, ...env(key) },
    stdio: 'ignore',
  })
  children.add(child)
  const exited = once(child, 'exit')
  return {
    end: async (signal: NodeJS.Signals) => {
      child.kill(signal)
      const [code] = (await exited) as [number | null]
      children.delete(child)
      return code
    },
    exited,
  }
}

const schedule = (line: readonly string[]) =>
  runCommand(['schedule', ...line, '--json'], { cwd: folder, env: env(keys.owner) })

async function tasksOf(client: Client, type: string) {
  const { tasks } = await client.listTasks({ type, limit: 200 })
  return tasks.map((task) => ({ ...task, runAt: Date.parse(String(task.metadata['run_at'])) })).toReversed()
}

/** Resolves once there are so many tasks of the type. */
async function untilFired(client: Client, type: string, count: number) {
  for (;;) {
    const tasks = await tasksOf(client, type)
    if (tasks.length >= count) return tasks
    // The next one: held by the server until it is there.
    const { tasks: claimed } = await createClient({ url: server.url, apiKey: ADMIN }).leaseNext({
      worker_id: 'watcher',
      accept_types: [type],
      wait_seconds: 10,
    })
    expect(claimed).toHaveLength(1)
  }
}

describe.each([
  ['one file', ['shared.db', 'shared.db']],
  ['a file each', ['a.db', 'b.db']],
] as const)('two processes on %s', (name, files) => {
  verifies(
    ['SCH-2', 'SCH-3'],
    `killed with -9 again and again, on ${name}: one task for every run time`,
    async () => {
      const owner = createClient({ url: server.url, apiKey: keys.owner })
      const type = `tick.${files[1]}`
      const running = files.map((file) => startScheduler(file))
      const created = await schedule([
        'create',
        'ticks',
        '--every',
        '1',
        '--type',
        type,
        '--misfire',
        'catch_up_all',
      ])
      expect(created.code).toBe(0)
      const { schedule_id: scheduleId } = JSON.parse(created.out)
      for (let count = 0; count < 4; count += 1) {
        const at = count % 2
        await untilFired(owner, type, count * 2 + 1)
        await running[at]!.end('SIGKILL')
        running[at] = startScheduler(files[at]!)
      }
      const tasks = await untilFired(owner, type, 9)
      const steps = tasks.slice(1).map((task, at) => task.runAt - tasks[at]!.runAt)
      expect(new Set(steps)).toEqual(new Set([1_000])) // none twice, none left out
      // A service's key speaks for nobody else: the tasks are the scheduler's, their outcome is the owner's.
      expect(tasks[0]).toMatchObject({
        created_by: { principal_kind: 'service', principal_id: 'scheduler' },
        recipient: { principal_kind: 'agent', principal_id: 'alice' },
        idempotency_key: `schedule:${scheduleId}:${new Date(tasks[0]!.runAt).toISOString()}`,
      })
      expect((await schedule(['delete', scheduleId])).code).toBe(0)
      const { open_obligations: open } = await owner.openObligations({ limit: 200 })
      expect(open.filter((receipt) => receipt.receipt_type === 'schedule.created')).toEqual([])
      for (const scheduler of running) expect(await scheduler.end('SIGTERM')).toBe(0)
    },
  )
})

test('a key that may not is said at once, with exit code 1', async () => {
  const { exited } = startScheduler('refused.db', keys.owner)
  expect((await exited)[0]).toBe(1)
})

test('without a scheduler the request is taken back, and the command says what to start', async () => {
  const { code, err } = await schedule(['list', '--timeout', '1'])
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('asyncgate scheduler') })
  const client = createClient({ url: server.url, apiKey: keys.owner })
  expect((await client.listTasks({ type: 'schedule.list' })).tasks).toMatchObject([{ status: 'canceled' }])
})
