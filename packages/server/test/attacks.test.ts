// Ways in that must stay shut, tried from outside: each is refused, changes nothing, and is on record.
import { contract, createClient, jsonSchema, type Operation, routeOf } from '@asyncgate/sdk'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { makeKey } from '../src/auth/key-text.ts'
import { SHARED_CALLER } from '../src/auth/shared-key.ts'
import { configOf } from '../src/config.ts'
import { type RunningGate, startGate } from '../src/gate.ts'
import { systemRandom } from '../src/ids.ts'
import { createLog } from '../src/log.ts'
import { CHEAP } from './api-key.ts'
import { verifies } from './requirements.ts'
import { openTestStore, type OpenedStore, STORE_KINDS } from './stores.ts'
import { stateText } from './whole-state.ts'

const SHARED = 'the-shared-key-of-the-test'
const ALICE = { role: 'agent', principal: { principal_kind: 'agent', principal_id: 'alice' } } as const
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The paths of everything that is read page by page, but for what is an operator's or within a task. */
const LISTS = Object.values(contract as Record<string, Operation>).flatMap((operation) => {
  const { path, pathFields } = routeOf(operation)
  const isPaged = Object.hasOwn(jsonSchema(operation.input).properties ?? {}, 'cursor')
  return isPaged && pathFields.length === 0 && operation.role === undefined ? [path] : []
})

/** Another secret behind a beginning that is known, with a checksum that fits. */
function guess(prefix: string): string {
  const wanted = Array.from(prefix.slice('aga_'.length), (digit) => DIGITS.indexOf(digit))
  return makeKey({ below: (bound) => wanted.shift() ?? systemRandom.below(bound) }).text
}

describe.each(STORE_KINDS)('on %s', (kind) => {
  let opened: OpenedStore
  let gate: RunningGate
  let alice: string
  const logged: string[] = []

  beforeAll(async () => {
    opened = await openTestStore(kind)
    const config = configOf({ port: 0, auth: { api_key: SHARED } })
    const log = createLog(config, { write: (line) => logged.push(line) })
    gate = await startGate(config, {
      store: { ...opened.store, close: async () => {} },
      hashCost: CHEAP,
      log,
    })
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

  verifies(
    ['AUTH-1', 'AUD-1'],
    `a key in the URL is no credential, and told nowhere, on ${kind}`,
    async () => {
      for (const name of ['api_key', 'key', 'access_token']) {
        const { answer, events } = await attempt(() => fetch(`${gate.url}/v1/tasks?${name}=${alice}`))
        expect([answer.status, events]).toEqual([401, ['authentication.failed']])
        expect(await answer.text()).not.toContain(alice)
      }
      const beside = await fetch(`${gate.url}/v1/tasks?api_key=${alice}`, { headers: asAlice() })
      expect([beside.status, (await beside.text()).includes(alice)]).toEqual([400, false])
      expect(JSON.stringify(await as(SHARED).listAudit({ limit: 200 }))).not.toContain(alice)
      expect(logged.length).toBeGreaterThan(0)
      expect(logged.join('')).not.toContain(alice)
    },
  )

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

  verifies(
    ['AUTH-1', 'LIM-1', 'AUD-1'],
    `who goes on guessing is told to wait, and the key that is guessed at goes on working, on ${kind}`,
    async () => {
      const prefix = alice.slice(0, 14)
      const guesses = Array.from({ length: 130 }, () => guess(prefix))
      const { answer, events } = await attempt(async () => {
        const replies = []
        for (const text of guesses)
          replies.push(await fetch(`${gate.url}/v1/config`, { headers: { 'x-api-key': text } }))
        return replies
      })
      // Not the last one, perhaps: it may have come when one more was allowed again.
      const told = answer.filter(({ status }) => status === 429)
      expect(told.length).toBeGreaterThan(0)
      expect(told.every(({ headers }) => Number(headers.get('retry-after')) > 0)).toBe(true)
      expect(answer.every(({ status }) => status === 401 || status === 429)).toBe(true)
      expect(events.filter((event) => event === 'rate_limit.exceeded')).toHaveLength(1)
      expect((await fetch(`${gate.url}/v1/config`, { headers: asAlice() })).status).toBe(200)
    },
  )

  verifies('OPS-2', `a cursor that was tampered with opens nothing, on ${kind}`, async () => {
    for (const type of ['one', 'two', 'three']) await as(SHARED).createTask({ type })
    await as(SHARED).createTask({ type: 'four', principal_kind: 'agent', principal_id: 'alice' })
    const { next_cursor: good } = await as(SHARED).listTasks({ limit: 1 })
    const plain = Buffer.from(good!, 'base64url').toString()
    expect(LISTS.length).toBeGreaterThan(6)
    const forged = [
      plain.replace('tasks:', 'receipts:'),
      plain.replace('tasks:', ''),
      `${plain}' or 1=1 --`,
      `tasks:' union select secret_hash from api_keys --`,
      'tasks:',
      'tasks:__proto__',
      `tasks:${'9'.repeat(10_000)}`,
      `${plain}\0`,
    ].map((text) => Buffer.from(text).toString('base64url'))
    for (const path of LISTS) {
      for (const cursor of [...forged, `${good}=`, `${good}%00`, good!.toUpperCase(), '../../etc/passwd']) {
        const headers = { authorization: `Bearer ${SHARED}` }
        const address = `${gate.url}${path}?cursor=${cursor}`
        const { answer } = await attempt(() => fetch(address, { headers }))
        const { error, field } = (await answer.json()) as { error: string; field: string }
        expect([path, cursor.slice(0, 60), error, field]).toEqual([
          ...[path, cursor.slice(0, 60), 'invalid_input', 'cursor'],
        ])
      }
    }
    // One that was made for another, or made up well, is a place in a list: what the list holds is the caller's own.
    const { tasks } = await as(alice).listTasks({ cursor: good! })
    expect(tasks.map(({ created_by }) => created_by.principal_id).filter((id) => id !== 'alice')).toEqual([])
  })

  verifies(['TASK-2', 'TEN-2'], `an idempotency key of another is one of one's own, on ${kind}`, async () => {
    const operator = { ...SHARED_CALLER, role: 'operator' } as const
    const tenant_id = 'elsewhere'
    await gate.dispatch('createTenant', { tenant_id }, { caller: operator })
    const { principal } = ALICE
    const made = await gate.dispatch('createTenantKey', { tenant_id, principal }, { caller: operator })
    const stranger = (made as { api_key: string }).api_key
    const { api_key: bob } = await as(SHARED).createKey({
      role: 'agent',
      principal: { principal_kind: 'agent', principal_id: 'bob' },
    })
    const input = { idempotency_key: 'the same', payload: { secret: 1 } }
    const first = await as(alice).createTask({ type: 'precious', ...input })
    for (const key of [stranger, bob]) {
      const other = await post('/v1/tasks', { type: 'other', ...input }, { 'x-api-key': key })
      expect([other.status, other.body.is_duplicate]).toEqual([201, false])
      expect(other.body.task_id).not.toBe(first.task_id)
    }
    expect(await as(alice).createTask({ type: 'precious', ...input })).toMatchObject({
      ...{ task_id: first.task_id, is_duplicate: true },
    })
  })
})
