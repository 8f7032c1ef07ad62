// What only real sockets show: clients that go, a server that stops, bytes that are no HTTP.
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { authorized, createTestApp } from '../../test/facade-kit.ts'

const headers = { ...authorized, 'content-type': 'application/json' }

/** A claim that is held until its signal fires; `held` resolves when the handler has it. */
function heldClaim() {
  const held = Promise.withResolvers<AbortSignal>()
  const ended = Promise.withResolvers<void>()
  const leaseNext = async (_input: never, { signal }: { signal: AbortSignal }) => {
    held.resolve(signal)
    await once(signal, 'abort')
    ended.resolve()
    return { tasks: [] }
  }
  return { script: { leaseNext }, held: held.promise, ended: ended.promise }
}

const claim = { method: 'POST', headers, body: JSON.stringify({ worker_id: 'w', wait_seconds: 60 }) }

test('a held call learns that its client has gone', async () => {
  const { script, held, ended } = heldClaim()
  const { app } = createTestApp(script)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const client = new AbortController()
  const reply = fetch(`${url}/v1/leases/claim`, { ...claim, signal: client.signal }).catch(() => 'gone')
  expect((await held).aborted).toBe(false)
  client.abort()
  await ended
  expect(await reply).toBe('gone')
  await app.close()
})

const claimParams = { name: 'asyncgate_lease_next', arguments: { worker_id: 'w', wait_seconds: 60 } }
const version = '2026-07-28'
const meta = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': {},
}
const mcpHeaders = { ...headers, accept: 'application/json, text/event-stream' }
const plainHeaders = {
  'mcp-protocol-version': version,
  'mcp-method': 'tools/call',
  'mcp-name': claimParams.name,
}
/** The older generation goes through the library, the newer one past it. */
const MCP_CLAIMS: [string, { headers: Record<string, string>; params: object }][] = [
  ['of the older generation', { headers: mcpHeaders, params: claimParams }],
  [
    'of the newer generation',
    { headers: { ...mcpHeaders, ...plainHeaders }, params: { ...claimParams, _meta: meta } },
  ],
]

function mcpClaim({ headers: own, params }: (typeof MCP_CLAIMS)[number][1]) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  return { method: 'POST', headers: own, body }
}

test.each(MCP_CLAIMS)('a held MCP call %s learns that its client has gone', async (_which, call) => {
  const { script, held, ended } = heldClaim()
  const { app } = createTestApp(script)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const client = new AbortController()
  const reply = fetch(`${url}/mcp`, { ...mcpClaim(call), signal: client.signal })
    .then((response) => response.text())
    .catch(() => 'gone')
  expect((await held).aborted).toBe(false)
  client.abort()
  await ended
  expect(await reply).toBe('gone')
  await app.close()
})

test.each(MCP_CLAIMS)('a stop ends a held MCP call %s with a reply', async (_which, call) => {
  const { script, held } = heldClaim()
  const { app } = createTestApp(script)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const reply = fetch(`${url}/mcp`, mcpClaim(call))
  await held
  await app.close()
  expect(await (await reply).text()).toContain('"structuredContent":{"tasks":[]}')
})

test('a stop ends held calls with a reply, and refuses what comes after', async () => {
  const { script, held } = heldClaim()
  const { app } = createTestApp(script)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const reply = fetch(`${url}/v1/leases/claim`, claim)
  await held
  const started = performance.now()
  await app.close()
  expect(performance.now() - started).toBeLessThan(5_000)
  expect(await (await reply).json()).toEqual({ tasks: [] })
  await expect(fetch(`${url}/health/live`)).rejects.toThrow()
})

test('a finished call fires no signal', async () => {
  const { app, seen } = createTestApp()
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  await (await fetch(`${url}/v1/config`, { headers })).text()
  await app.close()
  await sleep(0)
  expect(seen[0]?.context.signal.aborted).toBe(false)
})

test.each([
  ['no HTTP at all', 'hello\r\n\r\n', 400],
  ['headers without end', `GET / HTTP/1.1\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`, 431],
])('%s gets the one error body', async (_what, bytes, status) => {
  const { app } = createTestApp()
  await app.listen({ port: 0, host: '127.0.0.1' })
  const address = app.server.address() as { port: number }
  const socket = connect(address.port, '127.0.0.1')
  socket.write(bytes)
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await once(socket, 'close')
  const [head, body] = text.split('\r\n\r\n')
  expect(head).toContain(`HTTP/1.1 ${status} `)
  expect(JSON.parse(body!)).toMatchObject({ error: 'invalid_input', request_id: expect.any(String) })
  await app.close()
})
