// The README is true: its first-task lines run as written against a real server (on another port).
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { configOf } from '../src/config.ts'
import { type RunningGate, startGate } from '../src/gate.ts'

const ROOT = join(import.meta.dirname, '../../..')
let folder: string
let gate: RunningGate

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'asyncgate-readme-'))
  const database = { url: `sqlite:${join(folder, 'gate.db')}` }
  gate = await startGate(configOf({ port: 0, database, auth: { mode: 'dev' }, log: { level: 'silent' } }))
})
afterAll(async () => {
  await gate.stop()
  await rm(folder, { recursive: true, force: true })
})

async function shellBlocks(section: string): Promise<string> {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
  const text = readme.split(/^## /m).find((part) => part.startsWith(section))
  const blocks = [...(text ?? '').matchAll(/```sh\n(.*?)```/gs)].map((match) => match[1]!)
  expect(blocks.length).toBeGreaterThan(3)
  return blocks.join('\n').replaceAll('8420', String(gate.port)).replaceAll('npx asyncgate', 'asyncgate')
}

test('the first task, with curl and the command line', async (context) => {
  if (spawnSync('curl', ['--version']).status !== 0) context.skip('there is no curl on this machine')
  const script = await shellBlocks('Your first task')
  const env = {
    ...process.env,
    PATH: [join(ROOT, 'node_modules/.bin'), process.env['PATH']].join(delimiter),
    ASYNCGATE_URL: gate.url,
  }
  const { stdout } = await promisify(execFile)('bash', ['-euc', script], { cwd: folder, env })
  expect(stdout).toContain('"status":"succeeded"')
  expect(stdout).toContain('1 open for agent/default')
})
