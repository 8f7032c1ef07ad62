// The reference worker as people run it: a server and a worker as processes, and tasks of each type.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@asyncgate/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CliServer, type CliWorker, runCommand, startCliServer, startCliWorker } from './cli-process.ts'
import { verifies } from './requirements.ts'

const KEY = 'the-key-of-the-test'
let home: string
let server: CliServer
let worker: CliWorker
let client: Client

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'asyncgate-reference-'))
  mkdirSync(join(home, 'work/inner'), { recursive: true })
  mkdirSync(join(home, 'work-beside'))
  symlinkSync('/', join(home, 'work/way-out'))
  writeFileSync(join(home, 'work/inner/note.txt'), 'found')
  server = await startCliServer(['serve', '--log-level', 'error'], {
    cwd: home,
    env: { ASYNCGATE_AUTH_API_KEY: KEY, ASYNCGATE_DATABASE_URL: 'memory:' },
  })
  const allowed = ['--allow-program', `${process.execPath},cat`, '--folder', 'work']
  worker = await startCliWorker([...allowed, '--url', server.url], {
    cwd: home,
    env: { ASYNCGATE_API_KEY: KEY, SECRET: 'hush' },
  })
  client = createClient({ url: server.url, apiKey: KEY })
})
afterAll(async () => {
  await worker.stop('SIGKILL')
  await server.stop('SIGKILL')
  rmSync(home, { recursive: true, force: true })
})

async function ended(type: string, payload: Record<string, unknown>) {
  const { task_id } = await client.createTask({ type, payload, max_attempts: 1 })
  return client.getTask({ task_id, wait_seconds: 30 })
}

const runNode = (code: string, more: object = {}) =>
  ended('command', { program: process.execPath, args: ['-e', code], ...more })

verifies('SDK-3', 'echo returns its payload', async () => {
  expect((await ended('echo', { hello: 'world' })).result?.result).toEqual({ hello: 'world' })
})

verifies('SDK-3', 'sleep_then_return returns its value after its time', async () => {
  const task = await ended('sleep_then_return', { seconds: 0.2, value: [1, 2] })
  expect(task.result?.result).toEqual([1, 2])
  expect(Date.parse(task.completed_at!) - Date.parse(task.created_at)).toBeGreaterThanOrEqual(200)
  expect(await ended('sleep_then_return', { seconds: 'long' })).toMatchObject({
    status: 'failed',
    result: { error: { code: 'invalid_payload' } },
  })
})

verifies('SDK-3', 'http_get reaches no private address, the server itself included', async () => {
  for (const url of [`${server.url}/health`, `http://localhost:${server.port}/health`, 'http://10.0.0.1/']) {
    const task = await ended('http_get', { url })
    expect([url, task.status, task.result?.error]).toEqual([
      url,
      'failed',
      expect.objectContaining({ code: 'private_address' }),
    ])
  }
})

verifies(
  'SDK-3',
  'command runs an allowed program, with its arguments as they are and no shell',
  async () => {
    const args = ['; echo $HOME', '`id`', '*']
    const code = 'console.log(JSON.stringify([process.argv.slice(1), process.env]))'
    const task = await ended('command', { program: process.execPath, args: ['-e', code, ...args] })
    const { exit_code, stdout } = task.result!.result as { exit_code: number; stdout: string }
    expect(exit_code).toBe(0)
    const [given, env] = JSON.parse(stdout)
    expect(given).toEqual(args)
    expect(Object.keys(env).sort()).toEqual(['ASYNCGATE_TASK_ID', 'PATH'])
    expect(env.ASYNCGATE_TASK_ID).toBe(task.task_id)
  },
)

verifies('SDK-3', 'command runs nothing that is not listed', async () => {
  for (const program of ['node', 'sh', '/bin/sh', '../bin/sh', 'cat\0', '']) {
    expect(await ended('command', { program }).catch((error) => error.code)).toSatisfy(
      (task) => task === 'invalid_input' || task.result.error.code === 'not_allowed',
    )
  }
})

verifies('SDK-3', 'command stays in its folder, whatever the way out', async () => {
  const inside = await ended('command', { program: 'cat', args: ['note.txt'], folder: 'inner' })
  expect(inside.result?.result).toMatchObject({ stdout: 'found' })
  for (const folder of ['..', '../work-beside', 'way-out', 'way-out/tmp', '/', 'inner/../..', 'nowhere']) {
    const task = await ended('command', { program: 'cat', folder })
    expect([folder, task.result?.error]).toEqual([folder, expect.objectContaining({ code: 'not_allowed' })])
  }
})

test('a program that fails, writes much or takes too long is told of', async () => {
  expect((await runNode('console.error("no"); process.exit(3)')).result?.error).toMatchObject({
    code: 'command_failed',
    exit_code: 3,
    stderr: 'no\n',
  })
  const much = await runNode('process.stdout.write("x".repeat(1e6))')
  expect(much.result?.result).toMatchObject({ stdout: 'x'.repeat(65_536), truncated: true })
  const slow = await runNode('setInterval(() => {}, 1000)', { timeout_seconds: 1 })
  expect(slow.result?.error).toMatchObject({ code: 'timed_out' })
  const read = await runNode('process.stdin.pipe(process.stdout)', { stdin: 'in and out' })
  expect(read.result?.result).toMatchObject({ stdout: 'in and out' })
})

test('what it cannot be run with is said at the start', async () => {
  const run = (...args: string[]) => runCommand(['worker', ...args], { cwd: home, env: {} })
  const results = await Promise.all([
    run('--type', 'ech'),
    run('--type', 'command'),
    run('--allow-program', 'cat'),
    run('--allow-program', 'no-such-program', '--folder', 'work'),
    run('--allow-program', './cat', '--folder', 'work'),
  ])
  expect(results.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2])
  expect(results.map(({ err }) => err).join('')).toMatch(
    /Did you mean echo\?[^]*needs --allow-program[^]*--folder is missing[^]*no program no-such-program[^]*no program \.\/cat/,
  )
})

verifies('SDK-3', 'SIGTERM drains it and ends it with 0', async () => {
  const { task_id } = await client.createTask({
    type: 'sleep_then_return',
    payload: { seconds: 1.5, value: 'x' },
  })
  for (;;) {
    const { status } = await client.getTask({ task_id })
    if (status !== 'queued') break
  }
  expect(await worker.stop('SIGTERM')).toBe(0)
  expect(await client.getTask({ task_id })).toMatchObject({ status: 'succeeded', result: { result: 'x' } })
})
