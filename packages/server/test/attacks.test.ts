// Ways in that must stay shut, tried from outside: each is refused, changes nothing, and is on record.
import { createClient } from '@asyncgate/sdk'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { makeKey } from '../src/auth/key-text.ts'
import { configOf } from '../src/config.ts'
import { type RunningGate, startGate } from '../src/gate.ts'
import { systemRandom } from '../src/ids.ts'
import { CHEAP } from './api-key.ts'
import { verifies } from './requirements.ts'
import { openTestStore, type OpenedStore, STORE_KINDS } from './stores.ts'
import { stateText } from './whole-state.ts'

const SHARED = 'the-shared-key-of-the-test'
const ALICE = { role: 'agent', principal: { principal_kind: 'agent', principal_id: 'alice' } } as const
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Another secret behind a beginning that is known, with a checksum that fits. */
function guess(prefix: string): string {
  const wanted = Array.from(prefix.slice('aga_'.length), (digit) => DIGITS.indexOf(digit))
  return makeKey({ below: (bound) => wanted.shift() ?? systemRandom.below(bound) }).text
}

describe.each(STORE_KINDS)('on %s', (kind) => {
  let opened: OpenedStore
  let gate: RunningGate
  let alice: string

  beforeAll(async () => {
    opened = await openTestStore(kind)
    const config = configOf({ port: 0, auth: { api_key: SHARED }, log: { level: 'silent' } })
    gate = await startGate(config, { store: { ...opened.store, close: async () => {} }, hashCost: CHEAP })
    alice = (await as(SHARED).createKey(ALICE)).api_key
  })
  afterAll(async () => {
    await gate.stop()
    await opened.dispose()
  })

  const as = (apiKey: string) => createClient({ url: gate.url, apiKey, retry: false })

  async function post(path: string, body: object, headers: Record<string, string>) {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }
    const reply = await fetch(`${gate.url}${path}`, init)
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> }
  }

  /** What the attempt was answered, and the events that it left; the keys and the tenant are as they were. */
  async function attempt<T>(act: () => Promise<T>): Promise<{ answer: T; events: string[] }> {
    const look = async () => {
      await gate.audit.settled()
      const { keys } = await as(SHARED).listKeys({ limit: 200 })
      const { audit } = await as(SHARED).listAudit({ limit: 200 })
      return { held: JSON.stringify(keys) + (await stateText(opened.store, 'default')), audit }
    }
    const before = await look()
    const answer = await act()
    const after = await look()
    expect(after.held).toBe(before.held)
    const known = new Set(before.audit.map(({ audit_id }) => audit_id))
    const events = after.audit.filter(({ audit_id }) => !known.has(audit_id)).map(({ event }) => event)
    return { answer, events }
  }

  const asAlice = () => ({ authorization: `Bearer ${alice}` })

  verifies('AUTH-1', `a key in the URL is no credential, on ${kind}`, async () => {
    for (const name of ['api_key', 'key', 'access_token']) {
      const { answer, events } = await attempt(() => fetch(`${gate.url}/v1/tasks?${name}=${SHARED}`))
      expect([answer.status, events]).toEqual([401, ['authentication.failed']])
    }
  })

  verifies('AUTH-1', `no header but the credential says who calls, on ${kind}`, async () => {
    const headers = {
      'x-tenant-id': 'other',
      'x-role': 'admin',
      'x-scopes': 'admin:write',
      'x-principal-id': 'bob',
    }
    const reply = await fetch(`${gate.url}/v1/config`, { headers: { ...asAlice(), ...headers } })
    expect(await reply.json()).toMatchObject({ caller: { tenant_id: 'default', role: 'agent' } })
  })

  verifies('AUTH-1', `a bad credential beside a good one is a bad credential, on ${kind}`, async () => {
    const headers = { authorization: 'Bearer nonsense', 'x-api-key': SHARED }
    const { answer, events } = await attempt(() => fetch(`${gate.url}/v1/tasks`, { headers }))
    expect([answer.status, events]).toEqual([401, ['authentication.failed']])
  })

  verifies('AUTH-1', `what is no key is refused whatever it holds, on ${kind}`, async () => {
    const texts = [
      "aga_' or 1=1 --",
      'aga_%00',
      `aga_${'a'.repeat(10_000)}`,
      '__proto__',
      'aga_',
      '*',
      alice.slice(0, -1),
    ]
    for (const text of texts) {
      const headers = { 'x-api-key': text }
      const { answer, events } = await attempt(() => fetch(`${gate.url}/v1/tasks`, { headers }))
      expect([text.slice(0, 20), answer.status, events]).toEqual([
        text.slice(0, 20),
        401,
        ['authentication.failed'],
      ])
    }
  })

  verifies('AUTH-1', `nothing but what a key is bound to can be given with it, on ${kind}`, async () => {
    const admin = { authorization: `Bearer ${SHARED}` }
    const extras = [
      { tenant_id: 'other' },
      { created_by: ALICE.principal },
      { revoked_at: null },
      { secret_hash: 'x' },
      { api_key: 'aga_chosen' },
      { key_id: '0198c0de-dead-7000-8000-00000000beef' },
      { principal: { principal_kind: 'system', principal_id: 'asyncgate' } },
      { scopes: ['admin:everything'] },
    ]
    for (const extra of extras) {
      const { answer } = await attempt(() => post('/v1/admin/keys', { ...ALICE, ...extra }, admin))
      expect([extra, answer.status, answer.body.error]).toEqual([extra, 400, 'invalid_input'])
    }
  })

  verifies(['AUTH-1', 'AUTH-3', 'AUD-1'], `nobody rises above their role, on ${kind}`, async () => {
    const admin = { authorization: `Bearer ${SHARED}` }
    const tries: [string, object, Record<string, string>][] = [
      ['/v1/admin/keys', { ...ALICE, role: 'admin' }, asAlice()],
      ['/v1/admin/keys', { ...ALICE, role: 'operator' }, admin],
      ['/v1/admin/tenants', { tenant_id: 'mine' }, admin],
      ['/v1/admin/tenants/default/keys', { principal: ALICE.principal }, admin],
      ['/admin/workers/create_key', { worker_id: 'w' }, asAlice()],
      ['/v1/tasks', { type: 'x', principal_kind: 'agent', principal_id: 'bob' }, asAlice()],
    ]
    for (const [path, body, headers] of tries) {
      const { answer, events } = await attempt(() => post(path, body, headers))
      expect([path, answer.status, events]).toEqual([path, 403, ['authorization.failed']])
    }
  })

  verifies(
    ['AUTH-1', 'AUD-1'],
    `guessing gets nowhere, and the key that is guessed at goes on working, on ${kind}`,
    async () => {
      await as(alice).getConfig()
      const prefix = alice.slice(0, 14)
      const guesses = Array.from({ length: 40 }, () => guess(prefix))
      const { answer, events } = await attempt(() =>
        Promise.all([
          ...guesses.map((text) => fetch(`${gate.url}/v1/config`, { headers: { 'x-api-key': text } })),
          fetch(`${gate.url}/v1/config`, { headers: asAlice() }),
        ]),
      )
      expect(answer.map(({ status }) => status)).toEqual([...guesses.map(() => 401), 200])
      expect(events).toEqual(guesses.map(() => 'authentication.failed'))
    },
  )
})
