// The client of the SDK against a real server over HTTP; what it makes of single replies is tested beside it.
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import https, { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { contract, createClient, type Operation, type OperationKey } from '@asyncgate/sdk'
import { afterAll, beforeAll, expect, onTestFinished, vi } from 'vitest'
import sdk from '../../sdk/package.json' with { type: 'json' }
import { configOf } from '../src/config.ts'
import { type RunningGate, startGate } from '../src/gate.ts'
import { makeCertificate } from './certificate.ts'
import { verifies } from './requirements.ts'

const KEY = 'the-key-of-the-test'
let gate: RunningGate

beforeAll(async () => {
  const auth = { api_key: KEY }
  gate = await startGate(configOf({ port: 0, database: { url: 'memory:' }, auth, log: { level: 'silent' } }))
})
afterAll(() => gate.stop())

/** Does what is asked, but the answer is lost on its way back, the first `losses` times. */
function losingFetch(losses: number): { fetch: typeof fetch; sent: () => number } {
  let sent = 0
  const lossy: typeof fetch = async (...request) => {
    const reply = await fetch(...request)
    sent += 1
    if (sent > losses) return reply
    await reply.body?.cancel()
    throw new TypeError('fetch failed')
  }
  return { fetch: lossy, sent: () => sent }
}

verifies('SDK-1', 'a method for every operation, and the server knows each', async () => {
  const client = createClient({ url: gate.url, apiKey: KEY })
  const streams = ['uploadTaskResult', 'downloadTaskResult']
  expect(Object.keys(client)).toEqual([...Object.keys(contract), ...streams])
  const id = '0198c0de-0000-7000-8000-000000000001'
  for (const key of Object.keys(contract) as OperationKey[]) {
    const call = client[key] as (input: object) => Promise<object>
    const answer = await call({ task_id: id, receipt_id: id, tenant_id: 'other', unknown_field: 1 }).catch(
      (error) => error,
    )
    // An operation that the server has refuses the field by its name, or the role; one that it has not is not found.
    const { role } = contract[key] as Operation
    const refusal = role === undefined ? ['invalid_input', expect.any(String)] : ['forbidden', undefined]
    expect([key, answer.code, answer.details?.field]).toEqual([key, ...refusal])
  }
})

verifies(
  'SDK-1',
  'a creation whose answer was lost is repeated with its key, and makes one task',
  async () => {
    const { fetch, sent } = losingFetch(3)
    const slept: number[] = []
    const retry = { sleep: async (delayMs: number) => void slept.push(delayMs) }
    const client = createClient({ url: gate.url, apiKey: KEY, fetch, retry })
    const created = await client.createTask({ type: 'once', payload: { n: 1 } })
    expect(created.is_duplicate).toBe(true)
    expect([sent(), slept]).toEqual([4, [5_000, 10_000, 20_000]])
    const { tasks } = await client.listTasks({ type: 'once' })
    expect(tasks.map(({ task_id }) => task_id)).toEqual([created.task_id])
  },
)

verifies('SDK-1', 'a claim is not repeated: its grant would be lost twice', async () => {
  const { fetch, sent } = losingFetch(1)
  const client = createClient({ url: gate.url, apiKey: KEY, fetch })
  await expect(client.leaseNext({ worker_id: 'w', accept_types: ['none'] })).rejects.toMatchObject({
    code: 'server_unreachable',
  })
  expect(sent()).toBe(1)
})

verifies('SDK-1', 'a signal ends a call that the server holds', async () => {
  const client = createClient({ url: gate.url, apiKey: KEY })
  const controller = new AbortController()
  const held = client.leaseNext(
    { worker_id: 'w', accept_types: ['none'], wait_seconds: 60 },
    { signal: controller.signal },
  )
  controller.abort(new Error('enough'))
  await expect(held).rejects.toThrow('enough')
})

verifies(
  'SDK-1',
  'over TLS it believes whom Node was told to believe, and says whom it does not',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'asyncgate-sdk-tls-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const { certFile, keyFile } = makeCertificate(folder, 'localhost')
    const answer = (_request: unknown, response: ServerResponse) => response.end('{"ok":true}')
    const server = createServer({ cert: await readFile(certFile), key: await readFile(keyFile) }, answer)
    onTestFinished(() => void server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    // Set for all of Node, as NODE_EXTRA_CA_CERTS does, before the first client.
    const { ca, checkServerIdentity } = https.globalAgent.options
    onTestFinished(() => void Object.assign(https.globalAgent.options, { ca, checkServerIdentity }))
    Object.assign(https.globalAgent.options, {
      ca: await readFile(certFile),
      checkServerIdentity: () => undefined,
    })
    vi.resetModules()
    const { createClient } = await import('@asyncgate/sdk')
    await expect(createClient({ url, retry: false }).getConfig()).resolves.toEqual({ ok: true })
    const strange = createServer({ cert: await readFile(certFile), key: await readFile(keyFile) }, answer)
    makeCertificate(folder, 'localhost')
    strange.setSecureContext({ cert: await readFile(certFile), key: await readFile(keyFile) })
    onTestFinished(() => void strange.close())
    await once(strange.listen(0, '127.0.0.1'), 'listening')
    const other = `https://127.0.0.1:${(strange.address() as AddressInfo).port}`
    await expect(createClient({ url: other, retry: false }).getConfig()).rejects.toMatchObject({
      code: 'server_unreachable',
      message: expect.stringMatching(/certificate|self.signed|signature/),
    })
  },
)

verifies('SDK-1', 'it needs the schema library and nothing else', () => {
  expect(Object.keys(sdk.dependencies)).toEqual(['zod'])
  expect(sdk).not.toHaveProperty('peerDependencies')
})
