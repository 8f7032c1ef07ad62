// A GET for others, against a real server on this machine: what is refused, and what is not when it is allowed.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { get } from './get.ts'

let server: Server
let port: number
let asked: { url: string | undefined; secret: unknown }[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push({ url: request.url, secret: request.headers['x-secret'] })
    const to = new URL(request.url ?? '', 'http://here').searchParams.get('to')
    if (to !== null) response.writeHead(302, { location: to }).end()
    else response.writeHead(200, { 'content-type': 'text/plain' }).end('hello')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => server.close())

const wanted = (url: string) => ({ url, bytesMax: 1_000, signal: AbortSignal.timeout(10_000) })

test.each([
  (at: number) => `http://127.0.0.1:${at}/`,
  (at: number) => `http://localhost:${at}/`,
  (at: number) => `http://2130706433:${at}/`,
  (at: number) => `http://0x7f.1:${at}/`,
  (at: number) => `http://[::1]:${at}/`,
  (at: number) => `http://[::ffff:127.0.0.1]:${at}/`,
  () => 'http://169.254.169.254/latest/meta-data',
])('a private address is refused before anything is sent (%#)', async (urlAt) => {
  asked = []
  await expect(get(wanted(urlAt(port)))).rejects.toMatchObject({ code: 'private_address' })
  expect(asked).toEqual([])
})

test('a redirect to a private address is refused too, at the address that it leads to', async () => {
  const onlyThisName = (address: string) => address === '127.0.0.1'
  const url = `http://127.0.0.1:${port}/?to=http://[::1]:${port}/inner`
  await expect(get(wanted(url), onlyThisName)).rejects.toMatchObject({ code: 'private_address' })
})

test('what is allowed is fetched, through redirects, without handing headers to another origin', async () => {
  asked = []
  const headers = { 'x-secret': 'hush' }
  const other = `http://localhost:${port}/other`
  const url = `http://127.0.0.1:${port}/?to=${encodeURIComponent(`/?to=${other}`)}`
  const got = await get({ ...wanted(url), headers }, () => true)
  expect(got).toMatchObject({ url: other, status: 200, body: Buffer.from('hello') })
  expect(asked.map(({ secret }) => secret)).toEqual(['hush', 'hush', undefined])
})

test('what is too large, no http, or a circle of redirects is refused', async () => {
  const small = { ...wanted(`http://127.0.0.1:${port}/`), bytesMax: 4 }
  await expect(get(small, () => true)).rejects.toMatchObject({ code: 'too_large' })
  await expect(get(wanted('file:///etc/passwd'))).rejects.toMatchObject({ code: 'unsupported_url' })
  const toFile = wanted(`http://127.0.0.1:${port}/?to=file:///etc/passwd`)
  await expect(get(toFile, () => true)).rejects.toMatchObject({ code: 'unsupported_url' })
  const circle = wanted(`http://127.0.0.1:${port}/?to=`)
  await expect(get(circle, () => true)).rejects.toMatchObject({ code: 'too_many_redirects' })
})
