// The README is true: its first-task lines run as written against a real server (on another port), and so do the workers in it
// and in the docs.
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { createClient } from '@asyncgate/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CliServer, startCliServer } from './cli-process.ts'

const ROOT = join(import.meta.dirname, '../../..')
let folder: string
let server: CliServer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'asyncgate-readme-'))
  server = await startCliServer(['dev'], { cwd: folder, env: {} })
})
afterAll(async () => {
  await server.stop('SIGTERM')
  await rm(folder, { recursive: true, force: true })
})

async function shellBlocks(section: string): Promise<string> {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
  const text = readme.split(/^## /m).find((part) => part.startsWith(section))
  const blocks = [...(text ?? '').matchAll(/```sh\n(.*?)```/gs)].map((match) => match[1]!)
  expect(blocks.length).toBeGreaterThan(3)
  return blocks.join('\n').replaceAll('8420', String(server.port)).replaceAll('npx asyncgate', 'asyncgate')
}

test('the first task, with curl and the command line', async (context) => {
  if (spawnSync('curl', ['--version']).status !== 0) context.skip('there is no curl on this machine')
  const script = await shellBlocks('Your first task')
  const env = {
    ...process.env,
    PATH: [join(ROOT, 'node_modules/.bin'), process.env['PATH']].join(delimiter),
    ASYNCGATE_URL: server.url,
  }
  const { stdout } = await promisify(execFile)('bash', ['-euc', script], { cwd: folder, env })
  expect(stdout).toContain('"hello": "world"')
  expect(stdout).toContain('1 open for agent/default')
  expect(stdout).toContain('"status":"succeeded"')
  expect(stdout).toContain('"text": "Hello, Ada"')
  expect(stdout).toMatch(/task\.assigned[^]*task\.accepted[^]*task\.completed[^]*task\.result_ready/)
})

async function programs(file: string): Promise<string[]> {
  const text = await readFile(join(ROOT, file), 'utf8')
  const blocks = [...text.matchAll(/```ts\n(.*?)```/gs)].map((match) => match[1]!)
  return blocks
    .filter((block) => block.startsWith('import '))
    .map((block) => block.replaceAll('8420', String(server.port)))
}

/** TypeScript from stdin, as if it were a file in the folder of the clone. */
function run(program: string) {
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-'], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] },
    stdio: ['pipe', 'inherit', 'ignore'],
  })
  child.stdin.end(program)
  return { child, exited: once(child, 'exit').then(([code]) => code as number | null) }
}

test.each(['README.md', 'docs/workers.md'])(
  'the worker in %s greets, and stops when it is told',
  async (file) => {
    const [program] = await programs(file)
    const { child, exited } = run(program!)
    const client = createClient({ url: server.url })
    const { task_id } = await client.createTask({ type: 'greet', payload: { name: 'Ada' } })
    const task = await client.getTask({ task_id, wait_seconds: 30 })
    expect(task).toMatchObject({ progress: { percent: 50 }, result: { result: { text: 'Hello, Ada' } } })
    child.kill('SIGTERM')
    expect(await exited).toBe(0)
  },
)

test('the test in docs/workers.md passes', async () => {
  const [, program] = await programs('docs/workers.md')
  expect(program).toContain('asyncgate/testing')
  expect(await run(program!).exited).toBe(0)
})
