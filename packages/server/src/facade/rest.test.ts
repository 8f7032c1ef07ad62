// REST from outside: routes, input, bad input, replies, refusals.
import { contract, GateError, type Operation, type OperationKey, routeOf } from '@asyncgate/sdk'
import { describe, expect, test } from 'vitest'
import { authorized, createTestApp, RECEIPT_ID, TASK_ID } from '../../test/facade-kit.ts'

const shared = createTestApp()

/** Making an app takes longer than a test: those without a script of their own share one. */
function setUp(...args: Parameters<typeof createTestApp>) {
  if (args.length > 0) return createTestApp(...args)
  shared.seen.length = 0
  return shared
}

const json = { ...authorized, 'content-type': 'application/json' }
const post = (url: string, payload: unknown, headers: object = json) => ({
  method: 'POST' as const,
  url,
  headers: { ...headers },
  payload: typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload),
})
const get = (url: string, headers: object = authorized) => ({
  method: 'GET' as const,
  url,
  headers: { ...headers },
})

describe('routes come from the contract', () => {
  test.each(Object.entries(contract))('%s has its route', async (key, operation: Operation) => {
    const { app, seen } = setUp()
    const { method, path } = routeOf(operation)
    const url = path.replace('{task_id}', TASK_ID).replace('{receipt_id}', RECEIPT_ID)
    const reply = await app.inject(method === 'GET' ? get(url) : post(url, {}))
    const reached = seen[0]?.key === key
    const { error } = reply.json() as { error?: string }
    // The caller of these tests is no operator.
    const expected = operation.role === undefined ? 'invalid_input' : 'forbidden'
    expect(reached || error === expected).toBe(true)
  })
})

describe('input from path, query and body', () => {
  test('the path and the body make one input', async () => {
    const { app, seen } = setUp()
    await app.inject(post(`/v1/tasks/${TASK_ID}/cancel`, { reason: 'why' }))
    expect(seen).toMatchObject([{ key: 'cancelTask', input: { task_id: TASK_ID, reason: 'why' } }])
  })

  test('the query is read as the types of the input', async () => {
    const { app, seen } = setUp()
    await app.inject(get('/v1/tasks?limit=5&dead_letter=true&type=a%20b+c&status=failed'))
    expect(seen[0]?.input).toEqual({ limit: 5, dead_letter: true, type: 'a b c', status: 'failed' })
  })

  test('an empty body on POST is an empty input', async () => {
    const { app, seen } = setUp()
    await app.inject({ method: 'POST', url: `/v1/tasks/${TASK_ID}/cancel`, headers: authorized })
    await app.inject(post(`/v1/tasks/${TASK_ID}/cancel`, ''))
    expect(seen).toHaveLength(2)
  })

  test.each([
    ['a query value that is no integer', '/v1/tasks?limit=five', 'limit'],
    ['a decimal for an integer', '/v1/tasks?limit=1.5', 'limit'],
    ['a huge integer', '/v1/tasks?limit=99999999999999999999999', 'limit'],
    ['limit zero', '/v1/tasks?limit=0', 'limit'],
    ['a boolean that is none', '/v1/tasks?dead_letter=yes', 'dead_letter'],
    ['an unknown query field', '/v1/tasks?tenant_id=other', 'tenant_id'],
    ['a repeated query field', '/v1/tasks?type=a&type=b', 'type'],
    ['an empty value', '/v1/tasks?status=', 'status'],
    ['a NUL in the query', '/v1/tasks?type=a%00b', 'type'],
    ['__proto__ in the query', '/v1/tasks?__proto__=1', ''],
    ['a path field again in the query', `/v1/tasks/${TASK_ID}?task_id=${TASK_ID}`, 'task_id'],
    ['an id that is none', '/v1/tasks/nonsense', 'task_id'],
    ['a very long id', `/v1/tasks/${'a'.repeat(900)}`, 'task_id'],
  ])('%s is refused', async (_what, url, field) => {
    const { app, seen } = setUp()
    const reply = await app.inject(get(url))
    expect(reply.statusCode).toBe(400)
    expect(reply.json()).toMatchObject({ error: 'invalid_input', retryable: false, field })
    expect(seen).toEqual([])
  })

  test.each([
    ['an unknown field', { type: 't', nonsense: 1 }, 'nonsense'],
    ['tenant_id', { type: 't', tenant_id: 'other' }, 'tenant_id'],
    ['status', { type: 't', status: 'succeeded' }, 'status'],
    ['attempt', { type: 't', attempt: 7 }, 'attempt'],
    ['a wrong type', { type: ['t'] }, 'type'],
    ['a number beyond double', '{"type":"t","payload":{"n":1e999}}', 'payload.n'],
    ['a NUL', { type: 't', payload: { a: 'b\0' } }, 'payload.a'],
    ['a lone surrogate', '{"type":"t","payload":{"a":"\\ud800"}}', 'payload.a'],
    ['__proto__', '{"type":"t","payload":{"__proto__":{}}}', 'payload'],
    ['an array for a body', [1], ''],
    ['null for a body', 'null', ''],
  ])('%s in a body is refused', async (_what, payload, field) => {
    const { app, seen } = setUp()
    const reply = await app.inject(post('/v1/tasks', payload))
    expect(reply.statusCode).toBe(400)
    expect(reply.json()).toMatchObject({ error: 'invalid_input', field })
    expect(seen).toEqual([])
  })

  test.each([
    ['deep JSON', `{"type":"t","payload":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`],
    ['JSON one level too deep', `{"type":"t","payload":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`],
    ['malformed JSON', '{"type":'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
  ])('%s is refused', async (_what, payload) => {
    const { app } = setUp()
    const reply = await app.inject(post('/v1/tasks', payload))
    expect(reply.statusCode).toBe(400)
    expect(reply.json()).toMatchObject({ error: 'invalid_input', request_id: reply.headers['x-request-id'] })
  })

  test('a path field again in the body is refused', async () => {
    const { app } = setUp()
    const reply = await app.inject(post(`/v1/tasks/${TASK_ID}/cancel`, { task_id: TASK_ID }))
    expect(reply.json()).toMatchObject({ error: 'invalid_input', field: 'task_id' })
  })

  test('a query on POST is refused, not ignored', async () => {
    const { app } = setUp()
    const reply = await app.inject(post('/v1/tasks?type=t', {}))
    expect(reply.json()).toMatchObject({ error: 'invalid_input', field: 'type' })
  })

  test('a URL that does not decode is refused', async () => {
    const { app } = setUp()
    const reply = await app.inject(get('/v1/tasks/%E0%A4%A'))
    expect(reply.statusCode).toBe(400)
    expect(reply.json()).toMatchObject({ error: 'invalid_input', request_id: reply.headers['x-request-id'] })
  })
})

describe('content types and sizes', () => {
  test.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=x'],
    ['application/jsonp'],
    ['nonsense'],
  ])('%s is 415', async (type) => {
    const { app } = setUp()
    const reply = await app.inject(post('/v1/tasks', '{"type":"t"}', { ...authorized, 'content-type': type }))
    expect(reply.statusCode).toBe(415)
    expect(reply.json()).toMatchObject({ error: 'unsupported_media_type' })
  })

  test('a body without a content type is 415', async () => {
    const { app } = setUp()
    const headers = { ...authorized, 'content-length': '12', 'content-type': '' }
    const reply = await app.inject(post('/v1/tasks', '{"type":"t"}', headers))
    expect(reply.statusCode).toBe(415)
  })

  test('a charset is fine, a content encoding is not', async () => {
    const { app } = setUp()
    const charset = { ...authorized, 'content-type': 'application/json; charset=utf-8' }
    expect((await app.inject(post('/v1/tasks', { type: 't' }, charset))).statusCode).toBe(201)
    const gzip = { ...json, 'content-encoding': 'gzip' }
    expect((await app.inject(post('/v1/tasks', { type: 't' }, gzip))).statusCode).toBe(415)
  })

  test('a body over the limit is 413', async () => {
    const { app } = setUp()
    const reply = await app.inject(post('/v1/tasks', Buffer.alloc(32 * 1_048_576 + 1, ' ')))
    expect(reply.statusCode).toBe(413)
    expect(reply.json()).toMatchObject({ error: 'payload_too_large' })
  })
})

describe('replies', () => {
  test('a creation is 201, a duplicate 200', async () => {
    const { app } = setUp({
      createTask: ({ summary }: { summary: string }) => ({ is_duplicate: summary === 'again' }),
    })
    expect((await app.inject(post('/v1/tasks', { type: 't' }))).statusCode).toBe(201)
    expect((await app.inject(post('/v1/tasks', { type: 't', summary: 'again' }))).statusCode).toBe(200)
  })

  test('every error code answers its own status and the one body', async () => {
    const { app } = setUp({
      getTask: () => {
        throw new GateError('lease_invalid_or_expired', 'Stop.', { task_status: 'canceled' })
      },
    })
    const reply = await app.inject(get(`/v1/tasks/${TASK_ID}`, { ...authorized, 'x-request-id': 'mine-1' }))
    expect(reply.statusCode).toBe(409)
    expect(reply.headers['x-request-id']).toBe('mine-1')
    expect(reply.json()).toEqual({
      error: 'lease_invalid_or_expired',
      message: 'Stop.',
      retryable: false,
      task_status: 'canceled',
      request_id: 'mine-1',
    })
  })

  test('an unsafe request id is replaced', async () => {
    const { app } = setUp()
    const reply = await app.inject(get('/v1/config', { ...authorized, 'x-request-id': 'a b<script>' }))
    expect(reply.headers['x-request-id']).toMatch(/^id-/)
  })

  test.each([
    ['database_unavailable', {}, 503, '5'],
    ['rate_limit_exceeded', { retry_after: 6.2 }, 429, '7'],
  ] as const)('%s says when to come back', async (code, details, status, seconds) => {
    const { app } = setUp({
      getConfig: () => {
        throw new GateError(code, 'Not now.', details)
      },
    })
    const reply = await app.inject(get('/v1/config'))
    expect([reply.statusCode, reply.headers['retry-after']]).toEqual([status, seconds])
  })

  test('OBL-5: bootstrap says that it is deprecated, and what follows it', async () => {
    const { app } = setUp()
    const { headers } = await app.inject(get('/v1/bootstrap'))
    expect(headers).toMatchObject({
      'x-asyncgate-deprecated': 'true',
      deprecation: 'true',
      link: '</v1/obligations/open>; rel="successor-version"',
    })
  })

  test('a failure of ours tells nothing of the inside', async () => {
    const { app, lines } = setUp({
      getConfig: () => {
        throw new TypeError('secret inside')
      },
    })
    const reply = await app.inject(get('/v1/config'))
    expect(reply.statusCode).toBe(500)
    expect(reply.body).not.toContain('secret')
    expect(lines).toContainEqual(expect.objectContaining({ level: 'error' }))
  })
})

describe('routes that are not there', () => {
  test.each([['/nothing'], ['/v1'], ['/v1/tasks/a/b/c']])(
    '%s is not_found, whatever the method and body',
    async (url) => {
      const { app } = setUp()
      const replies = [
        await app.inject(get(url)),
        await app.inject(post(url, 'x', { 'content-type': 'text/xml' })),
      ]
      for (const reply of replies) {
        expect(reply.statusCode).toBe(404)
        expect(reply.json()).toMatchObject({ error: 'not_found', request_id: reply.headers['x-request-id'] })
      }
    },
  )

  test.each([
    ['DELETE', '/v1/tasks', 'GET'],
    ['PUT', `/v1/tasks/${TASK_ID}`, 'GET'],
    ['GET', '/v1/leases/claim', 'POST'],
    ['GET', '/mcp', 'POST'],
    ['DELETE', '/mcp', 'POST'],
    ['POST', '/health', 'GET'],
  ] as const)('%s %s is 405 and names what is allowed', async (method, url, allowed) => {
    const { app } = setUp()
    const reply = await app.inject({ method, url, headers: authorized })
    expect(reply.statusCode).toBe(405)
    expect(reply.headers.allow).toContain(allowed)
    expect(reply.json()).toMatchObject({ error: 'method_not_allowed' })
  })
})

describe('who may call', () => {
  test.each([
    ['nothing', {}],
    ['a wrong key', { authorization: 'Bearer wrong' }],
    ['another scheme', { authorization: 'Basic YTpi' }],
    ['an empty key', { 'x-api-key': '' }],
  ])('%s is 401 before the body is read', async (_what, headers) => {
    const { app, seen } = setUp()
    const reply = await app.inject(
      post('/v1/tasks', '{malformed', { 'content-type': 'application/json', ...headers }),
    )
    expect(reply.statusCode).toBe(401)
    expect(reply.headers['www-authenticate']).toBe('Bearer')
    expect(reply.json()).toMatchObject({ error: 'unauthenticated' })
    expect(seen).toEqual([])
  })

  test('the key is taken from either header', async () => {
    const { app } = setUp()
    const key = authorized.authorization.slice('Bearer '.length)
    expect((await app.inject(get('/v1/config', { 'x-api-key': key }))).statusCode).toBe(200)
    expect((await app.inject(get('/v1/config', { authorization: `bearer ${key}` }))).statusCode).toBe(200)
  })
})

test('every key of the contract is a route of its own', () => {
  const routes = (Object.keys(contract) as OperationKey[]).map((key) => contract[key].route)
  expect(new Set(routes).size).toBe(routes.length)
})
