// What a server does with clients that mean it no good, over real sockets; and what it tells browsers to leave alone.
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { afterAll, expect, test } from 'vitest'
import { type ConfigValues, configOf } from '../src/config.ts'
import { type RunningGate, startGate } from '../src/gate.ts'
import { makeCertificate } from './certificate.ts'
import { authorized, createTestApp, KEY, TASK_ID } from './facade-kit.ts'

const closing: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closing.toReversed()) await close()
})

async function start(values: ConfigValues = {}): Promise<RunningGate> {
  const config = configOf({
    ...{ port: 0, database: { url: 'memory:' }, auth: { api_key: KEY }, log: { level: 'silent' } },
    ...values,
  })
  const gate = await startGate(config)
  closing.push(() => gate.stop())
  return gate
}

const EVERY_ROW = { tenantId: 'default', severity: null, since: null, before: null, limit: 100 } as const
const BRIEF = { headMs: 200, requestMs: 400, contentMs: 800, silenceMs: 300, checkEveryMs: 50 }

async function brief(patience = BRIEF) {
  const { app } = createTestApp({ leaseNext: () => new Promise(() => {}) }, { patience })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  closing.push(() => app.close())
  return { port: Number(new URL(url).port) }
}

/** Writes one byte every so often for as long as it is let. */
function trickle(socket: Socket, bytes: string): void {
  let at = 0
  const timer = setInterval(() => socket.write(bytes[at++ % bytes.length]!), 20)
  socket.on('close', () => clearInterval(timer))
  socket.on('error', () => {})
}

/** What was answered before. Where bytes were still under way that nobody will read, the connection is reset. */
async function untilCutOff(socket: Socket): Promise<string> {
  return text(socket).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET') return ''
    throw error
  })
}

test.each([
  ['the head of a request', 'GET /health HTTP/1.1\r\nHost: a\r\n', 'X-A: b\r\n'],
  [
    'a body',
    'POST /v1/tasks HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n',
    '{',
  ],
])('a client that trickles %s is cut off', async (_what, head, more) => {
  const { port } = await brief()
  const socket = connect({ port, host: '127.0.0.1' })
  socket.write(head)
  trickle(socket, more)
  const answer = await untilCutOff(socket)
  expect(answer).toMatch(/^(HTTP\/1\.1 (408|401) |$)/)
  expect(socket.destroyed).toBe(true)
})

test.each([
  ['POST /v1/tasks', 401],
  ['POST /nowhere', 404],
  ['POST /%zz', 400],
  [`PUT /v1/tasks/${TASK_ID}/result/content`, 401],
])('who was refused (%s) does not go on sending for as long as content may take', async (line, status) => {
  const { port } = await brief({ ...BRIEF, contentMs: 600_000 })
  const socket = connect({ port, host: '127.0.0.1' })
  socket.write(
    `${line} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 999999\r\n\r\n`,
  )
  trickle(socket, ' ')
  let answer = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk))
  await new Promise((resolve) => socket.once('close', resolve)) // by a reset, often
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
})

test('a client that sends nothing, and one that waits for nothing, is cut off', async () => {
  const { port } = await brief()
  const silent = connect({ port, host: '127.0.0.1' })
  const held = connect({ port, host: '127.0.0.1' })
  const body = JSON.stringify({ worker_id: 'w', wait_seconds: 60 })
  const head = `POST /v1/leases/claim HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json`
  held.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  await Promise.all([silent, held].map((socket) => once(socket.resume(), 'close')))
})

async function raw(port: number, request: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.end(request)
  return text(socket)
}

test.each([
  ['headers beyond any measure', 431, `X-Big: ${'a'.repeat(20_000)}\r\n`],
  [
    'more headers than anybody needs',
    431,
    Array.from({ length: 3_000 }, (_, at) => `X-${at}: y\r\n`).join(''),
  ],
  ['two lengths', 400, 'Content-Length: 1\r\nContent-Length: 2\r\n'],
  ['a length beside chunks', 400, 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n'],
  ['a line break within a header', 400, 'X-A: b\rX-Evil: c\r\n'],
])('%s are refused, in words and with all headers', async (_what, status, headers) => {
  const { port } = await start()
  const reply = await raw(port, `GET /v1/config HTTP/1.1\r\nHost: a\r\n${headers}\r\n`)
  expect(reply).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(reply.toLowerCase()).toContain('x-content-type-options: nosniff')
  expect(reply.toLowerCase()).toContain('x-ratelimit-limit: unlimited')
  expect(reply).toContain('"error":"invalid_input"')
})

const BOMBS = {
  'members without end': `{"type":"t",${Array.from({ length: 1_000_000 }, (_, at) => `"k${at}":1`).join(',')}}`,
  'one member again and again': `{"type":"t",${'"a":1,'.repeat(4_000_000)}"b":1}`,
  'members of a payload': `{"type":"t","payload":{${Array.from({ length: 1_000_000 }, (_, at) => `"k${at}":1`).join(',')}}}`,
  'lists without end': `{"type":"t","payload":{"a":[${'[],'.repeat(8_000_000)}1]}}`,
  'lists within lists': `{"type":"t","payload":{"a":${'['.repeat(4_000_000)}`,
  'a number of a million digits': `{"type":"t","priority":${'9'.repeat(1_000_000)}}`,
  'numbers without end': `{"type":"t","payload":{"a":[${'1,'.repeat(12_000_000)}1]}}`,
}

test.each(Object.entries(BOMBS))(
  'a body that is a bomb (%s) is refused, and leaves nothing',
  async (_what, body) => {
    const gate = await start()
    const accept = 'application/json, text/event-stream'
    const headers = { ...authorized, accept, 'content-type': 'application/json' }
    const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"asyncgate_create_task","arguments":${body}}}`
    for (const [path, text] of [
      ['/v1/tasks', body],
      ['/mcp', call],
    ] as const) {
      const reply = await fetch(`${gate.url}${path}`, { method: 'POST', headers, body: text })
      const said = await reply.text()
      expect([path, said.length < 2_000, said]).toEqual([
        ...[path, true, expect.stringMatching(/invalid_input|payload_too_large/)],
      ])
    }
    const { tasks } = (await (await fetch(`${gate.url}/v1/tasks`, { headers: authorized })).json()) as {
      tasks: unknown[]
    }
    expect(tasks).toEqual([])
  },
)

test('a request id with a line break, or a long one, is not taken over', async () => {
  const gate = await start()
  const reply = await fetch(`${gate.url}/health`, { headers: { 'x-request-id': 'a'.repeat(500) } })
  expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
})

const REPLIES = [
  '/health',
  '/docs',
  '/',
  '/openapi.json',
  '/nowhere',
  '/%zz',
  '/v1/tasks',
  '/metrics',
  '/mcp',
]

test.each(REPLIES)('what %s answers is not to be framed, sniffed or shared', async (path) => {
  const gate = await start()
  const { headers } = await fetch(`${gate.url}${path}`)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
  expect(headers.get('x-frame-options')).toBe('DENY')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
  expect(headers.get('strict-transport-security')).toBeNull()
  expect(headers.get('server')).toBeNull()
  expect(headers.get('x-powered-by')).toBeNull()
  expect(headers.get('access-control-allow-origin')).toBeNull()
})

test('what goes wrong inside stays inside', async () => {
  const secret = 'the-password-of-the-database'
  const { app, lines } = createTestApp({
    getConfig: () => {
      throw new Error(`connect failed: ${secret} at /srv/app/src/store/postgres/pool.ts:7`)
    },
  })
  const reply = await app.inject({ url: '/v1/config', headers: authorized })
  expect(reply.statusCode).toBe(500)
  for (const told of [secret, 'pool.ts', ' at ', 'Error:']) expect(reply.body).not.toContain(told)
  expect(JSON.stringify(lines.map(({ message }) => message))).toContain('call failed on our side')
  await app.close()
})

const ORIGIN = 'https://app.example.org'
const preflight = { method: 'OPTIONS', headers: { origin: ORIGIN, 'access-control-request-method': 'POST' } }

test('pages of other origins get nothing unless they are named', async () => {
  const gate = await start()
  expect(
    (await fetch(`${gate.url}/v1/tasks`, preflight)).headers.get('access-control-allow-origin'),
  ).toBeNull()
  const headers = { ...authorized, origin: ORIGIN }
  const paths = ['/v1/config', `/v1/tasks/${TASK_ID}/result/content`]
  for (const path of paths) {
    const reply = await fetch(`${gate.url}${path}`, { headers })
    expect([reply.status, ((await reply.json()) as { header: string }).header]).toEqual([403, 'origin'])
  }
  await gate.audit.settled()
  const rows = await gate.store.listAudit({ ...EVERY_ROW, event: 'authorization.failed' })
  expect(rows.map(({ principal, reason }) => [principal, reason])).toEqual(
    paths.map(() => [null, expect.stringContaining(`Origin "${ORIGIN}"`)]),
  )
})

test("a name that is not the server's is refused at /mcp, and on record", async () => {
  const gate = await start()
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const head = `POST /mcp HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json`
  const reply = await raw(gate.port, `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  expect(reply).toMatch(/^HTTP\/1\.1 403 /)
  await gate.audit.settled()
  expect(await gate.store.listAudit({ ...EVERY_ROW, event: 'authorization.failed' })).toMatchObject([
    { principal: null, ip: '127.0.0.1', reason: expect.stringContaining('Host "evil.example"') },
  ])
})

test('pages of an origin that is named may call, and no others', async () => {
  const gate = await start({ http: { cors_origins: [ORIGIN] } })
  const asked = await fetch(`${gate.url}/v1/tasks`, preflight)
  expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, ORIGIN])
  expect(asked.headers.get('access-control-allow-headers')).toContain('authorization')
  expect(asked.headers.get('access-control-allow-credentials')).toBeNull()
  const reply = await fetch(`${gate.url}/v1/config`, { headers: { ...authorized, origin: ORIGIN } })
  expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([200, ORIGIN])
  expect(reply.headers.get('vary')).toContain('origin')
  expect(reply.headers.get('access-control-expose-headers')).toContain('x-ratelimit-remaining')
  for (const origin of [
    'https://app.example.org.evil.com',
    'http://app.example.org',
    'null',
    `${ORIGIN}:8443`,
  ]) {
    const other = await fetch(`${gate.url}/v1/config`, { headers: { ...authorized, origin } })
    expect([origin, other.status, other.headers.get('access-control-allow-origin')]).toEqual([
      origin,
      403,
      null,
    ])
  }
})

test("the server's own pages may call it", async () => {
  const gate = await start()
  const reply = await fetch(`${gate.url}/v1/config`, { headers: { ...authorized, origin: gate.url } })
  expect(reply.status).toBe(200)
})

test('who is behind a proxy is believed of trusted proxies alone', async () => {
  const forwarded = {
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-api-key': 'aga_wrong',
  }
  const seen = async (values: ConfigValues) => {
    const gate = await start(values)
    const reply = await fetch(`${gate.url}/v1/config`, { headers: forwarded })
    await gate.audit.settled()
    const [row] = await gate.store.listAudit({ ...EVERY_ROW, event: 'authentication.failed' })
    return [row?.ip, reply.headers.get('strict-transport-security') !== null]
  }
  expect(await seen({})).toEqual(['127.0.0.1', false])
  expect(await seen({ http: { trusted_proxies: ['10.0.0.0/8'] } })).toEqual(['127.0.0.1', false])
  expect(await seen({ http: { trusted_proxies: ['127.0.0.0/8'] } })).toEqual(['203.0.113.9', true])
})

function certificateName(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN))
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

test('TLS by file: served, strict, and renewed without a restart', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'asyncgate-tls-'))
  closing.push(() => rm(folder, { recursive: true }))
  const { certFile, keyFile } = makeCertificate(folder, 'first')
  const gate = await start({ tls: { cert_file: certFile, key_file: keyFile } })
  expect(gate.url).toMatch(/^https:/)
  expect(await certificateName(gate.port)).toBe('first')
  const socket = connectTls({ port: gate.port, host: '127.0.0.1', rejectUnauthorized: false })
  socket.end('GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  expect((await text(socket)).toLowerCase()).toContain('strict-transport-security: max-age=63072000')
  makeCertificate(folder, 'second')
  await gate.reload()
  expect(await certificateName(gate.port)).toBe('second')
  // Half a file, as while it is being written: the last one stays.
  await writeFile(certFile, '-----BEGIN CERTIFICATE-----\n')
  await gate.reload()
  expect(await certificateName(gate.port)).toBe('second')
})

test('a certificate that cannot be used is refused at the start', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'asyncgate-tls-'))
  closing.push(() => rm(folder, { recursive: true }))
  const { certFile } = makeCertificate(folder, 'first')
  await expect(start({ tls: { cert_file: certFile, key_file: join(folder, 'none') } })).rejects.toThrow(
    /can't be read/,
  )
  await expect(start({ tls: { cert_file: certFile, key_file: certFile } })).rejects.toThrow(
    /can't be used together/,
  )
})
