// A body that is there with the head of its request takes a short cut. What it leads to must not show it.
import { once } from 'node:events'
import { connect } from 'node:net'
import { GateError } from '@asyncgate/sdk'
import { afterAll, expect, test } from 'vitest'
import { authorized, createTestApp, TASK_ID } from '../../test/facade-kit.ts'

const { app, seen, lines } = createTestApp({
  createTask: ({ type }: { type: string }) => {
    if (type === 'refused') throw new GateError('idempotency_conflict', 'Refused.')
    if (type === 'broken') throw new Error('broken')
    return { task_id: TASK_ID, is_duplicate: type === 'again' }
  },
})
await app.listen({ port: 0, host: '127.0.0.1' })
afterAll(() => app.close())

const authorization = `authorization: ${authorized.authorization}\r\n`
const nested = `{"type":"a","payload":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`

const version = '2026-07-28'
const mcp =
  `${authorization}accept: application/json, text/event-stream\r\nmcp-protocol-version: ${version}\r\n` +
  'mcp-method: tools/call\r\nmcp-name: asyncgate_create_task\r\n'
const meta = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': {},
}
const params = { name: 'asyncgate_create_task', arguments: { type: 'a' }, _meta: meta }
const toolCall = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })

interface Case {
  readonly body: string | Buffer
  readonly answer: string
  readonly path?: string
  readonly head?: string
}

const CASES: Readonly<Record<string, Case>> = {
  'a call': { body: '{"type":"a"}', answer: '201 Created' },
  'the repetition of a call': { body: '{"type":"again"}', answer: '200 OK' },
  'more than one read of the socket': {
    body: `{"type":"a","payload":{"a":"${'a'.repeat(100_000)}"}}`,
    answer: '201 Created',
  },
  'no JSON': { body: '{"type":', answer: '400 Bad Request' },
  'no UTF-8': { body: Buffer.from([0x22, 0xff, 0x22]), answer: '400 Bad Request' },
  'JSON that is no object': { body: '[]', answer: '400 Bad Request' },
  'JSON that is nested too deep': { body: nested, answer: '400 Bad Request' },
  nothing: { body: '', answer: '400 Bad Request' },
  'a query besides': { path: '/v1/tasks?type=a', body: '{"type":"a"}', answer: '400 Bad Request' },
  'a refusal of the handler': { body: '{"type":"refused"}', answer: '409 Conflict' },
  'a fault of the handler': { body: '{"type":"broken"}', answer: '500 Internal Server Error' },
  'a call of MCP': { path: '/mcp', head: mcp, body: toolCall, answer: '200 OK' },
  'no JSON for MCP': { path: '/mcp', head: mcp, body: '{', answer: '400 Bad Request' },
  'nothing for MCP': { path: '/mcp', head: mcp, body: '', answer: '400 Bad Request' },
  'no key': { head: '', body: '{"type":"a"}', answer: '401 Unauthorized' },
}

test.each(Object.entries(CASES))(
  '%s is answered alike, at once or later',
  async (_what, { answer, ...call }) => {
    const atOnce = await send(call, { waits: false })
    const later = await send(call, { waits: true })
    expect(atOnce.reply).toContain(`HTTP/1.1 ${answer}\r\n`)
    expect(atOnce).toEqual(later)
  },
)

/** Who waits for leave to send a body sends it several turns of the event loop after the head. */
async function send(
  { path = '/v1/tasks', head = authorization, body }: Omit<Case, 'answer'>,
  { waits }: { waits: boolean },
) {
  const bytes = Buffer.from(body)
  const { port } = app.server.address() as { port: number }
  const socket = connect(port, '127.0.0.1')
  const lead =
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-request-id: r\r\n${head}content-type: application/json\r\n` +
    `content-length: ${bytes.length}\r\n${waits ? 'expect: 100-continue\r\n' : ''}\r\n`
  socket.write(waits ? lead : Buffer.concat([Buffer.from(lead), bytes]))
  let text = ''
  while (!/\r\n\r\n\{.*\}$/.test(text)) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    text += chunk.toString()
    if (!text.startsWith(CONTINUE)) continue
    text = text.slice(CONTINUE.length)
    socket.write(bytes)
  }
  socket.destroy()
  return {
    reply: text.replace(/^Date: .*\r\n/m, ''),
    inputs: seen.splice(0).map(({ input }) => input),
    lines: lines.splice(0),
  }
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
