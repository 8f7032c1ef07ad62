// API keys over a running server: made, used, rotated and revoked, on every store, with two instances side by side.
import { createClient, GateError } from '@asyncgate/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { configOf } from '../src/config.ts'
import { type RunningGate, startGate } from '../src/gate.ts'
import { createLog } from '../src/log.ts'
import type { Store } from '../src/store/port.ts'
import { CHEAP } from './api-key.ts'
import { verifies } from './requirements.ts'
import { openTestStore, type OpenedStore, STORE_KINDS } from './stores.ts'
import { createVirtualClock } from './virtual-clock.ts'

const SHARED = 'the-shared-key-of-the-test'
const MINUTE_MS = 60_000
const ALICE = { role: 'agent', principal: { principal_kind: 'agent', principal_id: 'alice' } } as const
const INDEXER = { role: 'worker', principal: { principal_kind: 'worker', principal_id: 'indexer' } } as const

describe.each(STORE_KINDS)('on %s', (kind) => {
  let opened: OpenedStore
  const gates: RunningGate[] = []
  const clock = createVirtualClock()
  const lines: string[] = []

  beforeAll(async () => {
    opened = await openTestStore(kind)
  })
  afterEach(async () => {
    for (const gate of gates.splice(0)) await gate.stop()
  })
  afterAll(() => opened.dispose())

  async function start(store: Store = opened.store): Promise<string> {
    const config = configOf({ port: 0, auth: { api_key: SHARED }, lease: { sweep_interval_seconds: 3_600 } })
    const gate = await startGate(config, {
      clock,
      store: { ...store, close: async () => {} },
      hashCost: CHEAP,
      log: createLog(config, { write: (line) => lines.push(line) }),
    })
    gates.push(gate)
    return gate.url
  }

  const as = (url: string, apiKey: string) => createClient({ url, apiKey, retry: false })
  const refusalOf = (call: Promise<unknown>) =>
    call.then(
      () => 'accepted',
      (error: unknown) => (error instanceof GateError ? error.code : String(error)),
    )

  verifies('AUTH-1', `a key acts for its principal with the scopes of its role, on ${kind}`, async () => {
    const url = await start()
    const admin = as(url, SHARED)
    const agent = as(url, (await admin.createKey(ALICE)).api_key)
    const worker = as(url, (await admin.createKey(INDEXER)).api_key)

    const { task_id } = await agent.createTask({ type: 'echo' })
    expect((await agent.getTask({ task_id })).created_by).toEqual(ALICE.principal)
    expect((await agent.getConfig()).caller).toEqual({
      tenant_id: 'default',
      role: 'agent',
      scopes: ['tasks:read', 'tasks:write', 'receipts:read', 'receipts:ack'],
    })
    expect((await worker.leaseNext({ worker_id: 'indexer-1' })).tasks).toHaveLength(1)
    expect(await refusalOf(worker.createTask({ type: 'echo' }))).toBe('forbidden')
    expect(await refusalOf(agent.leaseNext({ worker_id: 'alice' }))).toBe('forbidden')
    expect(await refusalOf(agent.createTask({ type: 'echo', principal_id: 'bob' }))).toBe('forbidden')
    expect(await refusalOf(agent.createKey(ALICE))).toBe('forbidden')
  })

  verifies('AUTH-1', `a key is shown once, and stored as Argon2id, on ${kind}`, async () => {
    const url = await start()
    const admin = as(url, SHARED)
    const { api_key: text, key_id, prefix } = await admin.createKey({ ...ALICE, name: 'once' })
    expect(text).toMatch(/^aga_[0-9A-Za-z]{52}$/)
    const { keys } = await admin.listKeys({})
    expect(keys.find((key) => key.key_id === key_id)).toMatchObject({
      prefix,
      name: 'once',
      status: 'active',
    })
    const stored = await opened.store.readKey('default', key_id)
    expect(stored?.secretHash).toMatch(/^\$argon2id\$v=19\$/)
    await as(url, text).getConfig()
    for (const place of [JSON.stringify(keys), JSON.stringify(stored), lines.join('')])
      expect(place).not.toContain(text.slice(prefix.length))
  })

  verifies('AUTH-1', `a revoked key is refused everywhere within a minute, on ${kind}`, async () => {
    const [here, there] = [await start(), await start(await opened.beside())]
    const admin = as(here, SHARED)
    const { api_key: text, key_id } = await admin.createKey(ALICE)
    for (const url of [here, there]) await as(url, text).getConfig()
    expect((await admin.revokeKey({ key_id })).status).toBe('revoked')
    await clock.advance(MINUTE_MS)
    for (const url of [here, there])
      expect(await refusalOf(as(url, text).getConfig())).toBe('unauthenticated')
  })

  verifies(
    'AUTH-1',
    `a rotated key and its successor are both valid, then the successor alone, on ${kind}`,
    async () => {
      const url = await start()
      const admin = as(url, SHARED)
      const old = await admin.createKey({ ...ALICE, scopes: ['tasks:read'], name: 'rotated' })
      const next = await admin.rotateKey({ key_id: old.key_id, overlap_seconds: 600 })
      expect(next).toMatchObject({ ...ALICE, scopes: ['tasks:read'], name: 'rotated', expires_at: null })
      await clock.advance(9 * MINUTE_MS)
      for (const { api_key } of [old, next]) await as(url, api_key).listTasks({})
      await clock.advance(MINUTE_MS)
      expect(await refusalOf(as(url, old.api_key).listTasks({}))).toBe('unauthenticated')
      await as(url, next.api_key).listTasks({})
    },
  )

  test('a successor lives as long as its predecessor was made to', async () => {
    const admin = as(await start(), SHARED)
    const lifeMs = 30 * MINUTE_MS
    const at = (ms: number) => new Date(clock.now() + ms).toISOString()
    const old = await admin.createKey({ ...ALICE, expires_at: at(lifeMs) })
    await clock.advance(10 * MINUTE_MS)
    const next = await admin.rotateKey({ key_id: old.key_id })
    expect(next.expires_at).toBe(at(lifeMs))
  })

  verifies('AUTH-1', `a key ends when it was said to, on ${kind}`, async () => {
    const url = await start()
    const expires_at = new Date(clock.now() + 10_000).toISOString()
    const { api_key: text } = await as(url, SHARED).createKey({ ...ALICE, expires_at })
    await clock.advance(9_999)
    await as(url, text).getConfig()
    await clock.advance(1)
    expect(await refusalOf(as(url, text).getConfig())).toBe('unauthenticated')
  })

  test('nobody gives a scope that their own key lacks', async () => {
    const url = await start()
    const service = { role: 'service', principal: { principal_kind: 'service', principal_id: 's' } } as const
    const limited = await as(url, SHARED).createKey({ ...service, scopes: ['admin:write', 'tasks:read'] })
    const maker = as(url, limited.api_key)
    expect(await refusalOf(maker.createKey({ ...ALICE, scopes: ['tasks:read'] }))).toBe('accepted')
    expect(await refusalOf(maker.createKey({ ...ALICE, scopes: ['tasks:read', 'tasks:write'] }))).toBe(
      'forbidden',
    )
    expect(await refusalOf(maker.createKey(ALICE))).toBe('forbidden')
    const stronger = await as(url, SHARED).createKey(ALICE)
    expect(await refusalOf(maker.rotateKey({ key_id: stronger.key_id }))).toBe('forbidden')
  })

  test('a key says who made it: whose credential it was, not whom it may speak for', async () => {
    const url = await start()
    const principal = { principal_kind: 'human', principal_id: 'ada' } as const
    const ada = as(url, (await as(url, SHARED).createKey({ role: 'admin', principal })).api_key)
    expect((await ada.createKey(ALICE)).created_by).toEqual(principal)
    const { key_id } = await ada.createWorkerKey({ worker_id: 'w' })
    const { keys } = await ada.listKeys({})
    expect(keys.find((key) => key.key_id === key_id)?.created_by).toEqual(principal)
  })

  test('the older form makes a key of a worker', async () => {
    const url = await start()
    const reply = await fetch(`${url}/admin/workers/create_key`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SHARED}`, 'content-type': 'application/json' },
      body: JSON.stringify({ worker_id: 'openrouter-001', capabilities: ['embeddings'] }),
    })
    const { api_key: text, worker_id } = (await reply.json()) as { api_key: string; worker_id: string }
    expect([reply.status, worker_id]).toEqual([201, 'openrouter-001'])
    const worker = as(url, text)
    expect((await worker.getConfig()).caller).toMatchObject({ role: 'worker' })
    await worker.leaseNext({ worker_id: 'openrouter-001' })
    expect(await refusalOf(worker.leaseNext({ worker_id: 'openrouter-002' }))).toBe('forbidden')
  })
})
