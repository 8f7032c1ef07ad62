// What the program has set up of Node's own agents, which the client takes over when it is first made.
import { once } from 'node:events'
import http, { createServer } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'

/** As a program has it that has made no client yet. */
async function fresh() {
  vi.resetModules()
  const { createClient } = await import('../index.ts')
  const { wireOf } = await import('./wires.ts')
  return { createClient, wireOf }
}

/** Answers when it is told to. */
async function serve() {
  const held: (() => void)[] = []
  const server = createServer((_request, response) => void held.push(() => response.end('{}')))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { held, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('a call that waits for a connection hears its signal at once, and takes none when one is free', async () => {
  const { options } = http.globalAgent as https.Agent // whose type alone tells of its options
  Object.assign(options, { maxSockets: 1 })
  onTestFinished(() => void Reflect.deleteProperty(options, 'maxSockets'))
  const { held, server, url } = await serve()
  const client = (await fresh()).createClient({ url, retry: false })
  const first = client.getConfig()
  await once(server, 'request')
  const controller = new AbortController()
  const second = client.getConfig({}, { signal: controller.signal })
  controller.abort(new Error('enough'))
  await expect(second).rejects.toThrow('enough')
  const third = client.getConfig()
  held.shift()!()
  await first
  await once(server, 'request')
  held.shift()!()
  await expect(third).resolves.toEqual({})
  expect(held).toHaveLength(0)
})

test("with certificates of the program's own, which a thread would not have, leases are not renewed from one", async () => {
  const { createClient, wireOf } = await fresh()
  const url = 'https://gate.example'
  expect(wireOf(createClient({ url }))).toEqual({ url, apiKey: undefined })
  Object.assign(https.globalAgent.options, { ca: 'a certificate' })
  onTestFinished(() => void Reflect.deleteProperty(https.globalAgent.options, 'ca'))
  expect(wireOf(createClient({ url }))).toBeUndefined()
  expect(wireOf(createClient({ url: 'http://gate.example' }))).toBeDefined()
})
