// The examples are true: each runs against a real server and checks its own outcome.
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createClient } from '@asyncgate/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../src/clock.ts'
import { configOf } from '../src/config.ts'
import { type RunningGate, startGate } from '../src/gate.ts'
import { createLog } from '../src/log.ts'
import { createScheduler } from '../src/scheduler/scheduler.ts'

const ROOT = join(import.meta.dirname, '../../..')
const run = promisify(execFile)
/** The one thing here that does not come with npm. */
const hasPython = spawnSync('python3', ['--version']).status === 0
let gate: RunningGate
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'asyncgate-examples-'))
  gate = await startGate(
    configOf({
      port: 0,
      database: { url: 'memory:' },
      auth: { mode: 'dev' },
      channels: { blob_path: folder },
      log: { level: 'silent' },
    }),
  )
})
afterAll(async () => {
  await gate.stop()
  await rm(folder, { recursive: true, force: true })
})

async function example(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(program, args, { cwd: ROOT, env: { ...process.env, ASYNCGATE_URL: gate.url } })
  return stdout
}

test('quick start', async () => {
  expect(await example(process.execPath, 'examples/quick-start.ts')).toContain('done: {"text":"Hello, Ada"}')
})

test('an agent over MCP comes back and finds its work', async () => {
  expect(await example(process.execPath, 'examples/agent-over-mcp.ts')).toContain('nothing is open')
})

test('a worker with progress and cancel', async () => {
  const out = await example(process.execPath, 'examples/progress-and-cancel.ts')
  expect(out).toContain('done, after 5 reports of progress')
  expect(out).toContain('canceled, and the worker has stopped')
})

test('large results, returned and streamed', async () => {
  const out = await example(process.execPath, 'examples/large-result.ts')
  expect(out).toContain('bytes in blob, verified: true')
  expect(out).toContain('bytes of text/csv')
})

test('a fan-out of a hundred tasks with a join', async () => {
  expect(await example(process.execPath, 'examples/fan-out.ts')).toContain('squares is 328350')
})

test('a nightly schedule', async () => {
  const scheduler = createScheduler({
    client: createClient({ url: gate.url }),
    schedulerId: 'scheduler',
    path: ':memory:',
    wallClock: systemClock,
    log: createLog({ log: { level: 'silent', format: 'json' }, instanceId: 'auto' }),
    stopOnSignals: false,
  })
  const running = scheduler.run()
  const out = await example(process.execPath, 'examples/nightly-schedule.ts')
  expect(out).toContain('runs, each once')
  expect(out).toContain('nothing is owed any more')
  await scheduler.stop()
  await running
})

test('a worker in Python', async (context) => {
  if (!hasPython) context.skip('there is no python3 on this machine')
  const client = createClient({ url: gate.url })
  const { task_id } = await client.createTask({ type: 'count.words', payload: { text: 'to be or not' } })
  expect(await example('python3', 'examples/worker.py', '--once')).toContain('completed')
  expect((await client.getTask({ task_id })).result?.result).toEqual({ words: 4 })
})
