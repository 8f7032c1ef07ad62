// The SDK where there is no Node: bundled for a browser, and run with nothing but what browsers have too.
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { createClient, type createWorker } from '@asyncgate/sdk'
import { build, type Rolldown } from 'vite'
import { afterAll, beforeAll, expect } from 'vitest'
import { configOf } from '../src/config.ts'
import { type RunningGate, startGate } from '../src/gate.ts'
import { verifies } from './requirements.ts'

const ENTRY = join(import.meta.dirname, '../../sdk/src/index.ts')
let gate: RunningGate

beforeAll(async () => {
  const settings = {
    port: 0,
    database: { url: 'memory:' },
    auth: { mode: 'dev' },
    log: { level: 'silent' },
  } as const
  gate = await startGate(configOf(settings))
})
afterAll(() => gate.stop())

async function bundle(): Promise<string> {
  const outputs = (await build({
    configFile: false,
    logLevel: 'silent',
    build: { write: false, lib: { entry: ENTRY, formats: ['iife'], name: 'sdk' } },
  })) as Rolldown.RolldownOutput[]
  return outputs[0]!.output[0].code
}

verifies(['SDK-1', 'SDK-2'], 'client and worker run in a browser, with a timer for renewals', async () => {
  const code = await bundle()
  const web = {
    fetch,
    URL,
    URLSearchParams,
    AbortController,
    AbortSignal,
    Response,
    TextEncoder,
    crypto,
    console,
  }
  const context = { ...web, setTimeout, clearTimeout, performance }
  const sdk = runInNewContext(`${code};sdk`, context) as {
    createClient: typeof createClient
    createWorker: typeof createWorker
  }
  const renewsFrom: string[] = []
  const worker = sdk.createWorker({
    client: sdk.createClient({ url: gate.url }),
    workerId: 'browser-1',
    log: false,
    onEvent: (event) => void (event.kind === 'ready' && renewsFrom.push(event.renewsFrom)),
  })
  const running = worker.task('greet', ({ name }) => `Hello, ${String(name)}`).run()
  const client = createClient({ url: gate.url })
  const { task_id } = await client.createTask({ type: 'greet', payload: { name: 'Ada' } })
  const task = await client.getTask({ task_id, wait_seconds: 30 })
  await worker.stop()
  await running
  expect(task.result?.result).toBe('Hello, Ada')
  expect(renewsFrom).toEqual(['timer'])
})
