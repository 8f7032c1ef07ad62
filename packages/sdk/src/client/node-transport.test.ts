// The client on Node's own HTTP client, against servers that answer as these tests tell them to.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createClient } from '../index.ts'
import { type Bounds, overNode } from './node-transport.ts'

type Answering = (request: IncomingMessage, response: ServerResponse) => void

interface Scene {
  readonly url: string
  readonly server: Server
  /** Every connection that was taken in. */
  readonly sockets: Socket[]
}

async function serve(answer: Answering): Promise<Scene> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  const sockets: Socket[] = []
  server.on('connection', (socket) => sockets.push(socket))
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, sockets }
}

const AMPLE: Bounds = { connectMs: 10_000, silenceMs: 10_000, lengthMax: 1_000 }

const clientOf = ({ url }: Scene) => createClient({ url, apiKey: 'k', retry: false })
const ok: Answering = (request, response) => request.resume().on('end', () => response.end('{}'))

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string
  return text
}

test('sends what the operation says, behind the path of the url', async () => {
  const seen: unknown[] = []
  const scene = await serve((request, response) => {
    const { method, url, headers } = request
    void textOf(request).then((body) => {
      const { authorization, 'content-type': type, 'content-length': length } = headers
      seen.push({ method, url, authorization, type, length, body })
      response.end('{"ok":true}')
    })
  })
  const client = createClient({ url: `${scene.url}/base/`, apiKey: 'k', retry: false })
  await client.listTasks({ type: 'a b' })
  await client.cancelTask({ task_id: 't', reason: 'größer' })
  expect(seen).toEqual([
    { method: 'GET', url: '/base/v1/tasks?type=a+b', authorization: 'Bearer k', body: '' },
    {
      method: 'POST',
      url: '/base/v1/tasks/t/cancel',
      authorization: 'Bearer k',
      type: 'application/json',
      length: '21',
      body: '{"reason":"größer"}',
    },
  ])
})

test('reads characters that arrive in two parts', async () => {
  const bytes = Buffer.from('{"status":"größer"}')
  const scene = await serve((_request, response) => {
    response.write(bytes.subarray(0, 13)) // within the ö
    setImmediate(() => response.end(bytes.subarray(13)))
  })
  await expect(clientOf(scene).getConfig()).resolves.toEqual({ status: 'größer' })
})

test('one call after the other goes over one connection', async () => {
  const scene = await serve(ok)
  for (let call = 0; call < 3; call += 1) await clientOf(scene).getConfig()
  expect(scene.sockets).toHaveLength(1)
})

/** Keeps a connection, and closes it as the next request is on its way. */
async function closingKept(): Promise<Scene> {
  let calls = 0
  const scene = await serve((request, response) => {
    calls += 1
    if (calls === 2) request.socket.destroy()
    else ok(request, response)
  })
  await clientOf(scene).getConfig()
  return scene
}

test('what may be done twice is sent again at once where a kept connection has been closed', async () => {
  const scene = await closingKept()
  await expect(clientOf(scene).getConfig()).resolves.toEqual({})
  expect(scene.sockets).toHaveLength(2)
})

test('it is not sent again once its signal has fired', async () => {
  const scene = await closingKept()
  const controller = new AbortController()
  // The signal fires after the connection has failed, and before that is acted upon.
  const abort = () => queueMicrotask(() => controller.abort(new Error('enough')))
  subscribe('http.client.request.error', abort)
  onTestFinished(() => void unsubscribe('http.client.request.error', abort))
  await expect(clientOf(scene).getConfig({}, { signal: controller.signal })).rejects.toThrow('enough')
  expect(scene.sockets).toHaveLength(1)
})

test('however many connections are kept, it is sent again once', async () => {
  let isClosing = false
  let deliveries = 0
  const held: ServerResponse[] = []
  const scene = await serve((request, response) => {
    deliveries += 1
    if (isClosing) return void request.socket.destroy()
    if (held.push(response) === 5) for (const one of held) one.end('{}')
  })
  const client = clientOf(scene)
  await Promise.all(Array.from({ length: 5 }, () => client.getConfig()))
  isClosing = true
  deliveries = 0
  await expect(client.getConfig()).rejects.toMatchObject({ code: 'server_unreachable' })
  expect(deliveries).toBe(2)
})

test.each([undefined, {}, { userAgent: 'Mozilla/5.0' }])(
  'where the runtime says %j of itself there is none',
  (navigator) => {
    vi.stubGlobal('navigator', navigator)
    onTestFinished(() => void vi.unstubAllGlobals())
    expect(overNode('http://gate:1')).toBeUndefined()
  },
)

test.each(['127.0.0.1', 'localhost'])(
  'who computes for longer than a connection to %s may take still gets its answer',
  async (host) => {
    const scene = await serve(ok)
    const { port } = new URL(scene.url)
    const transport = overNode(`http://${host}:${port}`, { ...AMPLE, connectMs: 20 })!
    const asked = transport({ method: 'GET', path: '/', headers: {}, isRepeatable: true }, undefined)
    await new Promise((resolve) => setImmediate(resolve)) // the connection is being made
    const until = performance.now() + 40
    while (performance.now() < until);
    await expect(asked).resolves.toMatchObject({ status: 200 })
  },
)

test('a claim is not sent again', async () => {
  const scene = await closingKept()
  const claim = clientOf(scene).leaseNext({ worker_id: 'w' })
  await expect(claim).rejects.toMatchObject({ code: 'server_unreachable' })
  expect(scene.sockets).toHaveLength(1)
})

test('a server that would change the protocol has not answered', async () => {
  const scene = await serve(({ socket }) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n')
  })
  await expect(clientOf(scene).getConfig()).rejects.toMatchObject({ code: 'server_unreachable' })
})

test('an answer that breaks off is none', async () => {
  const scene = await serve((_request, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('{}', () => response.destroy())
  })
  await expect(clientOf(scene).getConfig()).rejects.toMatchObject({ code: 'server_unreachable' })
})

test('a signal ends a call that is under way, and its connection', async () => {
  const controller = new AbortController()
  const asked = Promise.withResolvers<Socket>()
  const scene = await serve(({ socket }) => asked.resolve(socket))
  const held = clientOf(scene).getConfig({}, { signal: controller.signal })
  const closed = once(await asked.promise, 'close')
  controller.abort(new Error('enough'))
  await expect(held).rejects.toThrow('enough')
  await closed
})

test('a signal that has fired sends nothing', async () => {
  const scene = await serve(ok)
  const signal = AbortSignal.abort(new Error('enough'))
  await expect(clientOf(scene).getConfig({}, { signal })).rejects.toThrow('enough')
  expect(scene.sockets).toHaveLength(0)
})

test('a server that says nothing is given up', async () => {
  const scene = await serve(() => {})
  const transport = overNode(scene.url, { ...AMPLE, silenceMs: 20 })!
  const asked = transport({ method: 'GET', path: '/', headers: {}, isRepeatable: true }, undefined)
  await expect(asked).rejects.toThrow('no answer within 0.02 s')
})

test('an answer without end is given up, and its connection', async () => {
  const scene = await serve((_request, response) => {
    const goOn = () => {
      while (response.write('x'.repeat(100)));
    }
    response.on('drain', goOn)
    goOn()
  })
  const transport = overNode(scene.url, AMPLE)!
  const asked = transport({ method: 'GET', path: '/', headers: {}, isRepeatable: true }, undefined)
  await expect(asked).rejects.toThrow('longer than 1000 characters')
  const [socket] = scene.sockets
  if (!socket!.closed) await new Promise((resolve) => socket!.once('close', resolve))
})

test('whoever points elsewhere is not followed, and where to is said', async () => {
  const scene = await serve((_request, response) =>
    response.writeHead(308, { location: 'https://gate.example/v1/config' }).end(),
  )
  await expect(clientOf(scene).getConfig()).rejects.toMatchObject({
    code: 'not_found', // which a worker does not wait for to pass
    message: expect.stringContaining('It points to https://gate.example/v1/config'),
    details: { http_status: 308 },
  })
})

test('the wait that the server asks for is found among its headers', async () => {
  const scene = await serve((_request, response) =>
    response.writeHead(503, { 'retry-after': '7' }).end('{"error":"database_unavailable","message":"m"}'),
  )
  await expect(clientOf(scene).getConfig()).rejects.toMatchObject({
    code: 'database_unavailable',
    details: { retry_after: 7 },
  })
})

test.each(['127.0.0.1', 'localhost', '[::1]'])('nobody at %s: the reason is said', async (host) => {
  const scene = await serve(ok)
  const { port } = new URL(scene.url)
  await new Promise((resolve) => scene.server.close(resolve))
  const client = createClient({ url: `http://${host}:${port}`, retry: false })
  await expect(client.getConfig()).rejects.toMatchObject({
    code: 'server_unreachable',
    message: expect.stringMatching(/\(.*(ECONNREFUSED|EADDRNOTAVAIL|ENETUNREACH).*\)/),
  })
})

test('a key that cannot stand in a header is refused without being shown', async () => {
  const scene = await serve(ok)
  const client = createClient({ url: scene.url, apiKey: 'secret\n', retry: false })
  const error = await client.getConfig().catch((thrown: unknown) => thrown)
  expect(String(error)).toContain('authorization')
  expect(String(error)).not.toContain('secret')
})
