// LIM-1 from outside: what every reply says, who is refused when, and who is not.
import { contract, createClient, GateError, type OperationKey } from '@asyncgate/sdk'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { Caller } from '../src/auth/caller.ts'
import { SHARED_CALLER } from '../src/auth/shared-key.ts'
import { type ConfigValues, configOf } from '../src/config.ts'
import { type RunningGate, startGate } from '../src/gate.ts'
import { CHEAP } from './api-key.ts'
import { openDoor, PROTOCOLS } from './doors.ts'
import { LEAST } from './equivalence-history.ts'
import { verifies } from './requirements.ts'
import { openTestStore, type OpenedStore, STORE_KINDS } from './stores.ts'

const SHARED = 'the-shared-key-of-the-test'
const OPERATOR: Caller = { ...SHARED_CALLER, role: 'operator' }
const HEADERS = ['limit', 'remaining', 'reset', 'bucket'] as const
const OPERATIONS = Object.keys(contract) as OperationKey[]

let opened: Record<(typeof STORE_KINDS)[number], OpenedStore>
const gates: RunningGate[] = []
let tenants = 0

beforeAll(async () => {
  const [memory, sqlite, postgres] = await Promise.all(STORE_KINDS.map(openTestStore))
  opened = { memory: memory!, sqlite: sqlite!, postgres: postgres! }
})
afterAll(async () => {
  for (const gate of gates) await gate.stop()
  for (const kind of STORE_KINDS) await opened[kind].dispose()
})

async function start(kind: (typeof STORE_KINDS)[number], values: ConfigValues = {}): Promise<RunningGate> {
  const config = configOf({ port: 0, auth: { api_key: SHARED }, log: { level: 'silent' }, ...values })
  const store = { ...(await opened[kind].beside()), close: async () => {} }
  const gate = await startGate(config, { store, hashCost: CHEAP })
  gates.push(gate)
  return gate
}

/** A tenant of its own with these figures, and the key of its administrator. */
async function tenantWith(gate: RunningGate, figures: object) {
  const tenant_id = `limited-${(tenants += 1)}`
  const principal = { principal_kind: 'human', principal_id: 'ada' }
  await gate.dispatch('createTenant', { tenant_id }, { caller: OPERATOR })
  await gate.dispatch('limitTenant', { tenant_id, tier: 'enterprise', ...figures }, { caller: OPERATOR })
  const made = await gate.dispatch('createTenantKey', { tenant_id, principal }, { caller: OPERATOR })
  return { tenant_id, key: (made as { api_key: string }).api_key }
}

function rateOf(headers: Headers) {
  return Object.fromEntries(HEADERS.map((name) => [name, headers.get(`x-ratelimit-${name}`)]))
}

const withKey = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
const configCall = (gate: RunningGate, key: string) => fetch(`${gate.url}/v1/config`, withKey(key))

async function count(calls: readonly Promise<Response>[]): Promise<Record<number, number>> {
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  return Object.fromEntries(
    Object.entries(Object.groupBy(statuses, String)).map(([status, list]) => [status, list!.length]),
  )
}

describe.each(STORE_KINDS)('on %s', (kind) => {
  let gate: RunningGate
  beforeAll(async () => {
    gate = await start(kind)
  })

  verifies(
    'LIM-1',
    `a tenant makes as many calls as it may, and then is told when to come again, on ${kind}`,
    async () => {
      const { tenant_id, key } = await tenantWith(gate, { calls_per_hour: 5 })
      const remaining: unknown[] = []
      for (let call = 0; call < 5; call += 1) {
        const reply = await configCall(gate, key)
        expect(reply.status).toBe(200)
        remaining.push(rateOf(reply.headers).remaining)
      }
      expect(remaining).toEqual(['4', '3', '2', '1', '0'])
      const refused = await configCall(gate, key)
      expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([429, expect.any(Number)])
      const body = (await refused.json()) as { retry_after: number }
      expect(body).toMatchObject({
        ...{ error: 'rate_limit_exceeded', retryable: true, limit: 5, window: '1h' },
        message: expect.stringContaining('limit of 5 calls in 1h'),
      })
      expect(body.retry_after).toBeGreaterThan(700)
      expect(body.retry_after).toBeLessThanOrEqual(720)
      expect(refused.headers.get('retry-after')).toBe(String(body.retry_after))
      const rate = rateOf(refused.headers)
      expect(rate).toMatchObject({ limit: '5', remaining: '0', bucket: `tenant:${tenant_id}:calls` })
      const inAnHour = Date.now() / 1_000 + 3_600
      expect(Math.abs(Number(rate.reset) - inAnHour)).toBeLessThan(30)
      // Nobody else has to do with it.
      expect((await configCall(gate, SHARED)).status).toBe(200)
    },
  )

  verifies('LIM-1', `a refusal is on record, once, on ${kind}`, async () => {
    const { tenant_id, key } = await tenantWith(gate, { calls_per_hour: 1 })
    expect(await count(Array.from({ length: 5 }, () => configCall(gate, key)))).toEqual({ 200: 1, 429: 4 })
    await gate.audit.settled()
    const caller = { ...SHARED_CALLER, tenantId: tenant_id }
    const { audit } = (await gate.dispatch('listAudit', { event: 'rate_limit.exceeded' }, { caller })) as {
      audit: object[]
    }
    expect(audit).toEqual([
      expect.objectContaining({
        severity: 'warning',
        principal: { principal_kind: 'human', principal_id: 'ada' },
        ip: '127.0.0.1',
      }),
    ])
  })

  for (const protocol of PROTOCOLS) {
    verifies(
      'LIM-1',
      `every operation is refused alike, and says so, over ${protocol} on ${kind}`,
      async () => {
        const { tenant_id, key } = await tenantWith(gate, { calls_per_hour: 1 })
        await configCall(gate, key)
        const door = openDoor(protocol, gate.url)
        for (const operation of OPERATIONS) {
          const { body, status, headers } = await door.call(operation, LEAST[operation], key)
          const bucket = `tenant:${tenant_id}:calls`
          expect([operation, status, body.error, body.bucket]).toEqual([
            operation,
            429,
            'rate_limit_exceeded',
            bucket,
          ])
          expect(rateOf(headers)).toMatchObject({ limit: '1', remaining: '0', bucket })
          expect(headers.get('retry-after')).not.toBeNull()
        }
        await door.close()
      },
    )

    verifies('LIM-1', `tasks are counted one by one, over ${protocol} on ${kind}`, async () => {
      const { tenant_id, key } = await tenantWith(gate, { tasks_per_hour: 5 })
      const door = openDoor(protocol, gate.url)
      const tasks = (length: number) => ({ tasks: Array.from({ length }, () => ({ type: 'a' })) })
      const first = await door.call('createTasks', tasks(3), key)
      expect([first.ok, rateOf(first.headers).remaining]).toEqual([true, '2'])
      const tooMany = await door.call('createTasks', tasks(3), key)
      expect(tooMany.body).toMatchObject({ error: 'rate_limit_exceeded', limit: 5, window: '1h' })
      expect(rateOf(tooMany.headers)).toMatchObject({ remaining: '2', bucket: `tenant:${tenant_id}:tasks` })
      const never = await door.call('createTasks', tasks(6), key)
      expect(never.body.message).toContain('Send at most 5 at once')
      // What is a repetition or is refused costs nothing.
      const same = { type: 'a', idempotency_key: 'k' }
      for (let repetition = 0; repetition < 3; repetition += 1)
        expect((await door.call('createTask', same, key)).ok).toBe(true)
      const bad = { tasks: [{ type: 'a', concurrency_limit: 2 }] }
      expect((await door.call('createTasks', bad, key)).ok).toBe(true)
      expect(
        (await door.call('createTask', { type: 'a', parent_task_id: LEAST.getTask.task_id }, key)).ok,
      ).toBe(false)
      const last = await door.call('createTask', { type: 'a' }, key)
      expect([last.ok, rateOf(last.headers).remaining]).toEqual([true, '0'])
      expect((await door.call('createTask', { type: 'a' }, key)).body.error).toBe('rate_limit_exceeded')
      // Reading goes on.
      expect((await door.call('listTasks', {}, key)).ok).toBe(true)
      await door.close()
    })
  }

  verifies('LIM-1', `one principal does not use up what the others have, on ${kind}`, async () => {
    const { key } = await tenantWith(gate, { principal_calls_per_hour: 3, calls_per_hour: 8 })
    const admin = createClient({ url: gate.url, apiKey: key, retry: false })
    const principal = { principal_kind: 'agent', principal_id: 'ädä\r\n: x' } as const
    const { api_key } = await admin.createKey({ role: 'agent', principal })
    expect(await count(Array.from({ length: 5 }, () => configCall(gate, api_key)))).toEqual({
      200: 3,
      429: 2,
    })
    const refused = await configCall(gate, api_key)
    expect(rateOf(refused.headers).bucket).toBe('principal:agent/%C3%A4d%C3%A4%0D%0A%3A%20x:calls')
    // Its refusals cost the tenant nothing: 1 + 3 of 8 are used, and two are the admin's own limit.
    expect(await count(Array.from({ length: 4 }, () => configCall(gate, key)))).toEqual({ 200: 2, 429: 2 })
  })

  verifies('LIM-1', `a call that one limit refuses costs nothing of the others, on ${kind}`, async () => {
    const { tenant_id, key } = await tenantWith(gate, { calls_per_hour: 2, principal_calls_per_hour: 4 })
    expect(await count(Array.from({ length: 8 }, () => configCall(gate, key)))).toEqual({ 200: 2, 429: 6 })
    const more = { tenant_id, tier: 'enterprise', calls_per_hour: 50, principal_calls_per_hour: 4 }
    await gate.dispatch('limitTenant', more, { caller: OPERATOR })
    expect(await count(Array.from({ length: 8 }, () => configCall(gate, key)))).toEqual({ 200: 2, 429: 6 })
  })

  verifies('LIM-1', `a change of figures holds at once where it was made, on ${kind}`, async () => {
    const { tenant_id, key } = await tenantWith(gate, { calls_per_hour: 1 })
    expect(await count(Array.from({ length: 3 }, () => configCall(gate, key)))).toEqual({ 200: 1, 429: 2 })
    await gate.dispatch('limitTenant', { tenant_id, tier: 'enterprise' }, { caller: OPERATOR })
    const reply = await configCall(gate, key)
    expect(reply.status).toBe(200)
    expect(rateOf(reply.headers)).toEqual({
      ...{ limit: 'unlimited', remaining: 'unlimited', reset: '0' },
      bucket: `tenant:${tenant_id}:calls`,
    })
    expect(await reply.json()).toMatchObject({ tier: 'enterprise', limits: { calls_per_hour: 0 } })
  })

  verifies(
    ['LIM-1', 'AUTH-1'],
    `who guesses is slowed down, and the key that is guessed at goes on working, on ${kind}`,
    async () => {
      const guarded = await start(kind, { limits: { failed_logins_per_minute: 10 } })
      const { key } = await tenantWith(guarded, {})
      expect((await configCall(guarded, key)).status).toBe(200)
      const guesses = Array.from({ length: 30 }, (_, at) => configCall(guarded, `aga_nonsense-${at}`))
      expect(await count(guesses)).toEqual({ 401: 10, 429: 20 })
      const refused = await configCall(guarded, 'aga_nonsense')
      expect([refused.status, rateOf(refused.headers)]).toEqual([
        429,
        expect.objectContaining({ limit: '10', remaining: '0', bucket: 'address:127.0.0.1:failed_logins' }),
      ])
      expect(await refused.json()).toMatchObject({ error: 'rate_limit_exceeded', window: '1m' })
      // From the same address, one that is known and one that was never seen.
      expect((await configCall(guarded, key)).status).toBe(200)
      const { key: fresh } = await tenantWith(guarded, {})
      expect((await configCall(guarded, fresh)).status).toBe(200)
      // No credential is no guess: clients that look for the way in are told it.
      expect((await fetch(`${guarded.url}/v1/config`)).status).toBe(401)
      await guarded.audit.settled()
      const rows = async (event: string) =>
        (
          (await guarded.dispatch('listAudit', { event, limit: 200 }, { caller: SHARED_CALLER })) as {
            audit: object[]
          }
        ).audit
      expect((await rows('rate_limit.exceeded')).length).toBeLessThanOrEqual(2)
    },
  )

  verifies('LIM-1', `every reply says how the caller stands, on ${kind}`, async () => {
    const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' }
    const replies = await Promise.all([
      fetch(`${gate.url}/health`),
      fetch(`${gate.url}/docs`),
      fetch(`${gate.url}/nowhere`),
      fetch(`${gate.url}/%zz`),
      fetch(`${gate.url}/v1/tasks`, { method: 'DELETE' }),
      fetch(`${gate.url}/v1/tasks`),
      fetch(`${gate.url}/v1/tasks`, post),
      fetch(`${gate.url}/v1/tasks`, { ...post, headers: { ...post.headers, ...withKey(SHARED).headers } }),
      fetch(`${gate.url}/v1/tasks?limit=x`, withKey(SHARED)),
      fetch(`${gate.url}/metrics`),
      fetch(`${gate.url}/mcp`, post),
      fetch(`${gate.url}/mcp`, { ...post, headers: { ...post.headers, ...withKey(SHARED).headers } }),
    ])
    for (const { url, status, headers } of replies)
      expect([url, status, Object.values(rateOf(headers)).includes(null)]).toEqual([url, status, false])
    expect(replies.map(({ status }) => status)).toEqual([
      200, 200, 404, 400, 405, 401, 401, 400, 400, 401, 401, 400,
    ])
  })
})

verifies('LIM-1', 'the whole server has a limit of its own', async () => {
  const gate = await start('memory', { limits: { global_calls_per_minute: 6 } })
  const [one, other] = [await tenantWith(gate, {}), await tenantWith(gate, {})]
  const calls = [one, other, one, other, one, other, one, other].map(({ key }) => configCall(gate, key))
  expect(await count(calls)).toEqual({ 200: 6, 429: 2 })
  expect(rateOf((await configCall(gate, one.key)).headers)).toMatchObject({ limit: '6', bucket: 'global' })
})

verifies('LIM-1', 'content that is sent or fetched as it is costs a call, and says so', async () => {
  const gate = await start('memory')
  const { tenant_id, key } = await tenantWith(gate, { calls_per_hour: 7 })
  const client = createClient({ url: gate.url, apiKey: key, retry: false })
  const { task_id } = await client.createTask({ type: 'a' })
  const [held] = (await client.leaseNext({ worker_id: 'w' })).tasks
  const lease = { worker_id: 'w', lease_id: held!.lease_id }
  const content = `${gate.url}/v1/tasks/${task_id}/result/content`
  const query = new URLSearchParams({ ...lease, channel: 'inline' }).toString()
  const put = () => fetch(`${content}?${query}`, { ...withKey(key), method: 'PUT', body: 'x' })
  const sent = await put()
  expect([sent.status, rateOf(sent.headers).remaining]).toEqual([200, '4'])
  const artifact = (await sent.json()) as { pointer: string }
  await client.complete({ ...lease, task_id, artifacts: [artifact] })
  const fetched = await fetch(content, withKey(key))
  expect([fetched.status, await fetched.text()]).toEqual([200, 'x'])
  expect(rateOf(fetched.headers)).toMatchObject({
    ...{ limit: '7', remaining: '2', bucket: `tenant:${tenant_id}:calls` },
  })
  await Promise.all([fetch(content, withKey(key)), fetch(content, withKey(key))])
  for (const refused of [await put(), await fetch(content, withKey(key))])
    expect([refused.status, rateOf(refused.headers).remaining]).toEqual([429, '0'])
})

verifies('LIM-1', 'two servers on one PostgreSQL admit together what a tenant may', async () => {
  const servers = [await start('postgres'), await start('postgres')]
  const { key } = await tenantWith(servers[0]!, { calls_per_hour: 300 })
  const calls = Array.from({ length: 500 }, (_, at) => configCall(servers[at % 2]!, key))
  expect(await count(calls)).toEqual({ 200: 300, 429: 200 })
})

verifies('LIM-1', 'a batch of calls in one request pays for each', async () => {
  const gate = await start('memory')
  const { key } = await tenantWith(gate, { calls_per_hour: 3 })
  const call = (id: number) => ({
    ...{ jsonrpc: '2.0', id, method: 'tools/call' },
    params: { name: 'asyncgate_get_config', arguments: {} },
  })
  const reply = await fetch(`${gate.url}/mcp`, {
    method: 'POST',
    headers: {
      ...withKey(key).headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify([1, 2, 3, 4, 5].map(call)),
  })
  const text = await reply.text()
  const timesOf = (pattern: RegExp) => text.match(pattern)?.length
  expect([timesOf(/"isError":true/g), timesOf(/"structuredContent":\{"server"/g)]).toEqual([2, 3])
})

verifies('LIM-1', 'a client of ours waits as long as it is told', async () => {
  const gate = await start('memory')
  const { key } = await tenantWith(gate, { calls_per_hour: 1 })
  const client = createClient({ url: gate.url, apiKey: key, retry: false })
  await client.getConfig()
  const refusal = await client.getConfig().catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(GateError)
  expect(refusal).toMatchObject({
    code: 'rate_limit_exceeded',
    retryable: true,
    details: { limit: 1, window: '1h' },
  })
})
