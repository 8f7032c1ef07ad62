// The client against a scripted fetch: what it sends, what it makes of replies, when it repeats.
import { expect, test } from 'vitest'
import { createClient, GateError } from './index.ts'

interface Sent {
  url: string
  method: string
  headers: Record<string, string>
  body: unknown
}

type Answer = Response | Error | (() => Response | Error)

/** A fetch that answers from a list and keeps what was sent; the last answer stays. */
function scriptedFetch(answers: Answer[]) {
  const sent: Sent[] = []
  const fake = (async (url: string, init: RequestInit) => {
    init.signal?.throwIfAborted()
    const body = typeof init.body === 'string' ? (JSON.parse(init.body) as unknown) : undefined
    sent.push({ url, method: init.method ?? 'GET', headers: init.headers as Record<string, string>, body })
    const next = answers.length > 1 ? answers.shift()! : answers[0]!
    const answer = typeof next === 'function' ? next() : next
    if (answer instanceof Error) throw answer
    return answer.clone()
  }) as typeof fetch
  return { fetch: fake, sent }
}

function setUp(answers: Answer[], options: Partial<Parameters<typeof createClient>[0]> = {}) {
  const { fetch: fake, sent } = scriptedFetch(answers)
  const slept: number[] = []
  const sleep = async (delayMs: number) => void slept.push(delayMs)
  const ids = { next: () => 'made-key' }
  const client = createClient({ url: 'http://gate:1/base/', fetch: fake, retry: { sleep }, ids, ...options })
  return { client, sent, slept }
}

const ok = (body: unknown, status = 200) => Response.json(body, { status })
const refusal = (error: string, status: number, more: object = {}, headers: Record<string, string> = {}) =>
  Response.json(
    { error, message: 'Do this.', retryable: true, request_id: 'r', ...more },
    { status, headers },
  )
const away = () => new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })
const id = '0197c5a4-7d2e-7c11-9d3a-5b2f4e8a1c01'

test('GET: path and query from the route', async () => {
  const { client, sent } = setUp([ok({})], { apiKey: 'k' })
  await client.getTask({ task_id: 'a/b', wait_seconds: 30, worker_id: undefined })
  expect(sent).toMatchObject([
    {
      url: 'http://gate:1/base/v1/tasks/a%2Fb?wait_seconds=30',
      method: 'GET',
      headers: { authorization: 'Bearer k' },
    },
  ])
})

test('POST: path from the route, the rest in the body', async () => {
  const { client, sent } = setUp([ok({ ok: true, status: 'canceled' })])
  const reply = await client.cancelTask({ task_id: id, reason: 'why' })
  expect(reply).toEqual({ ok: true, status: 'canceled' })
  expect(sent).toMatchObject([
    { url: `http://gate:1/base/v1/tasks/${id}/cancel`, method: 'POST', body: { reason: 'why' } },
  ])
})

test('an input that may be empty may be left out', async () => {
  const { client, sent } = setUp([ok({})])
  await client.getConfig()
  await client.openObligations()
  expect(sent.map(({ url }) => url)).toEqual([
    'http://gate:1/base/v1/config',
    'http://gate:1/base/v1/obligations/open',
  ])
})

test('creations get an idempotency key of their own, unless they bring one', async () => {
  const { client, sent } = setUp([ok({})])
  await client.createTask({ type: 't' })
  await client.createTask({ type: 't', idempotency_key: 'mine' })
  await client.createTask({ type: 't', idempotency_key: undefined })
  await client.createTasks({ tasks: [{ type: 'a' }, { type: 'b', idempotency_key: 'mine' }] })
  expect(sent.map(({ body }) => body)).toMatchObject([
    { idempotency_key: 'made-key' },
    { idempotency_key: 'mine' },
    { idempotency_key: 'made-key' },
    { tasks: [{ idempotency_key: 'made-key' }, { idempotency_key: 'mine' }] },
  ])
})

test('the principal is filled in where the operation takes one and the call names nobody', async () => {
  const { client, sent } = setUp([ok({})], { principal: { kind: 'agent', id: 'alice', instanceId: 's1' } })
  await client.cancelTask({ task_id: id })
  await client.cancelTask({ task_id: id, principal_id: 'bob' })
  await client.leaseNext({ worker_id: 'w' })
  await client.getConfig()
  expect(sent.map(({ body }) => body)).toEqual([
    { principal_kind: 'agent', principal_id: 'alice', principal_instance_id: 's1' },
    { principal_id: 'bob', principal_instance_id: 's1' },
    { worker_id: 'w', principal_instance_id: 's1' },
    undefined,
  ])
})

test('a refusal is thrown as the GateError that it is', async () => {
  const { client } = setUp([refusal('lease_invalid_or_expired', 409, { task_status: 'canceled' })])
  const error = await client
    .renewLease({ worker_id: 'w', task_id: id, lease_id: id })
    .catch((e: unknown) => e)
  expect(error).toBeInstanceOf(GateError)
  expect(error).toMatchObject({
    code: 'lease_invalid_or_expired',
    message: 'Do this.',
    details: { task_status: 'canceled', request_id: 'r' },
    retryable: false,
  })
})

test('safe calls are repeated after 5, 10, 20, 40, 60 seconds, then given up', async () => {
  const { client, sent, slept } = setUp([away])
  await expect(client.openObligations()).rejects.toMatchObject({
    code: 'server_unreachable',
    retryable: true,
  })
  expect(slept).toEqual([5_000, 10_000, 20_000, 40_000, 60_000])
  expect(sent).toHaveLength(6)
})

test('a repeated creation keeps its key', async () => {
  let count = 0
  const { client, sent } = setUp([away, refusal('database_unavailable', 503), ok({ task_id: id })], {
    ids: { next: () => `key-${(count += 1)}` },
  })
  await expect(client.createTask({ type: 't' })).resolves.toEqual({ task_id: id })
  expect(sent.map(({ body }) => (body as { idempotency_key: string }).idempotency_key)).toEqual([
    'key-1',
    'key-1',
    'key-1',
  ])
})

test('the server says when to come back, within reason', async () => {
  const { client, slept } = setUp([
    refusal('rate_limit_exceeded', 429, { retry_after: 7 }),
    refusal('database_unavailable', 503, {}, { 'retry-after': '3' }),
    refusal('rate_limit_exceeded', 429, { retry_after: 86_400 }),
    ok({}),
  ])
  await client.getConfig()
  expect(slept).toEqual([7_000, 3_000, 60_000])
})

test.each([
  ['a claim', (client: ReturnType<typeof createClient>) => client.leaseNext({ worker_id: 'w' })],
  ['a settlement', (client: ReturnType<typeof createClient>) => client.settle({ worker_id: 'w' })],
])('%s is not repeated by itself', async (_what, call) => {
  const { client, sent } = setUp([away])
  await expect(call(client)).rejects.toMatchObject({ code: 'server_unreachable' })
  expect(sent).toHaveLength(1)
})

test('what a retry cannot help is not repeated, nor anything when retries are off', async () => {
  const bad = setUp([refusal('invalid_input', 400)])
  await expect(bad.client.getConfig()).rejects.toMatchObject({ code: 'invalid_input' })
  const off = setUp([away], { retry: false })
  await expect(off.client.getConfig()).rejects.toMatchObject({ code: 'server_unreachable' })
  const once = setUp([away])
  await expect(once.client.getConfig({}, { retry: false })).rejects.toMatchObject({
    code: 'server_unreachable',
  })
  expect([bad.sent.length, off.sent.length, once.sent.length]).toEqual([1, 1, 1])
})

test('a failed connection says where to, and keeps its cause', async () => {
  const { client } = setUp([away], { retry: false })
  const error = (await client.getConfig().catch((e: unknown) => e)) as GateError
  expect(error.message).toContain('http://gate:1/base (connect ECONNREFUSED)')
  expect(error.cause).toBeInstanceOf(TypeError)
})

test.each([
  [404, '<html>', 'not_found'],
  [502, 'Bad gateway', 'database_unavailable'],
  [500, '{}', 'internal_error'],
  [200, 'not json', 'internal_error'],
])('%i that is not ours (%s) is said to be so', async (status, text, code) => {
  const { client } = setUp([new Response(text, { status })], { retry: false })
  await expect(client.getConfig()).rejects.toMatchObject({
    code,
    message: expect.stringContaining('not in AsyncGate'),
  })
})

test('an abort ends the call, and the wait before a repeat', async () => {
  const before = setUp([ok({})])
  const gone = AbortSignal.abort(new Error('enough'))
  await expect(before.client.getConfig({}, { signal: gone })).rejects.toThrow('enough')
  const during = new AbortController()
  const { client } = setUp(
    [
      () => {
        queueMicrotask(() => during.abort(new Error('enough')))
        return away()
      },
    ],
    { retry: {} },
  )
  await expect(client.getConfig({}, { signal: during.signal })).rejects.toThrow('enough')
})

test('a missing path field is refused before anything is sent', async () => {
  const { client, sent } = setUp([ok({})])
  await expect(client.getTask({ task_id: '' })).rejects.toMatchObject({
    code: 'invalid_input',
    details: { field: 'task_id' },
  })
  expect(sent).toEqual([])
})

test.each([
  [undefined, 'is missing'],
  ['localhost:8420', 'is "localhost:8420"'],
  ['', 'is ""'],
])('an address that cannot be one is refused at once: %s', (url, says) => {
  expect(() => createClient({ url: url as string })).toThrow(`The url of the server ${says}. Give one`)
})

test('an address with a password in it is refused at once, and not repeated', () => {
  const create = () => createClient({ url: 'http://me:secret@gate:1' })
  expect(create).toThrow('Give a key as apiKey')
  expect(create).not.toThrow('secret')
})

test('an address that paths cannot be put behind is refused at once', () => {
  expect(() => createClient({ url: 'http://gate:1/?tenant=x' })).toThrow('ends with "?tenant=x"')
})
