// What /mcp answers before the protocol begins.
import { describe, expect, test } from 'vitest'
import { authorized, createTestApp } from '../../../test/facade-kit.ts'

const headers = {
  ...authorized,
  host: 'localhost',
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
const post = (payload: unknown, more: Record<string, string> = {}) => ({
  method: 'POST' as const,
  url: '/mcp',
  headers: { ...headers, ...more },
  payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
})

test('a call without a session is answered: the endpoint is stateless', async () => {
  const { app } = createTestApp()
  const reply = await app.inject(post(list))
  expect(reply.statusCode).toBe(200)
  expect(reply.body).toContain('asyncgate_create_task')
  expect(reply.headers['x-request-id']).toBeDefined()
})

test('dotted names can be what is shown', async () => {
  const { app } = createTestApp({}, { toolNames: 'dotted' })
  expect((await app.inject(post(list))).body).toContain('"asyncgate.create_task"')
})

describe('refusals', () => {
  test('no credential is 401 with a challenge', async () => {
    const { app } = createTestApp()
    const reply = await app.inject(post(list, { authorization: '' }))
    expect([reply.statusCode, reply.headers['www-authenticate']]).toEqual([401, 'Bearer'])
    expect(reply.json()).toMatchObject({ jsonrpc: '2.0', error: { data: { error: 'unauthenticated' } } })
  })

  test.each([
    ['a rebound host', { host: 'evil.example' }],
    ['a foreign page', { origin: 'https://evil.example' }],
  ])('%s is 403', async (_what, more) => {
    const { app } = createTestApp()
    expect((await app.inject(post(list, more as Record<string, string>))).statusCode).toBe(403)
  })

  test('malformed JSON is a parse error', async () => {
    const { app } = createTestApp()
    const reply = await app.inject(post('{"jsonrpc":'))
    expect([reply.statusCode, reply.json().error.code]).toEqual([400, -32700])
  })

  test('another content type is 415', async () => {
    const { app } = createTestApp()
    expect((await app.inject(post(list, { 'content-type': 'text/plain' }))).statusCode).toBe(415)
  })

  test('nonsense that is JSON is refused, never a 500', async () => {
    const { app } = createTestApp()
    for (const payload of ['{}', '[]', 'null', '1', '"x"', '{"jsonrpc":"2.0","id":1}', '[1]', '']) {
      const reply = await app.inject(post(payload))
      expect([payload, reply.statusCode]).toEqual([payload, 400])
    }
  })

  test('arguments that are no object are a JSON-RPC error', async () => {
    const { app } = createTestApp()
    const params = { name: 'asyncgate_create_task', arguments: [1] }
    const reply = await app.inject(post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }))
    expect(reply.body).toContain('-32602')
  })
})
