// Which Host and Origin may call, and where that is asked.
import { describe, expect, test } from 'vitest'
import { createTestApp } from '../../test/facade-kit.ts'
import { SHARED_CALLER } from '../auth/shared-key.ts'
import { createHostGuard } from './host-guard.ts'

const loopback = createHostGuard({ loopback: true })
const named = createHostGuard({ loopback: false, allowedHosts: ['Gate.Example.org'] })
const open = createHostGuard({ loopback: false })

describe('MCP-1: Host and Origin', () => {
  test.each([
    ['loopback by name', loopback, { host: 'localhost:8420' }],
    ['loopback by address', loopback, { host: '127.0.0.1:8420' }],
    ['loopback by IPv6 address', loopback, { host: '[::1]:8420' }],
    ['a page of its own', loopback, { host: 'localhost:8420', origin: 'http://localhost:3000' }],
    ['a configured name', named, { host: 'gate.example.org', origin: 'https://gate.example.org' }],
    ['any name where none is configured', open, { host: 'asyncgate:8420' }],
    [
      'its own page where none is configured',
      open,
      { host: 'asyncgate:8420', origin: 'http://asyncgate:8420' },
    ],
  ])('%s passes', (_what, guard, headers) => {
    expect(() => guard(headers)).not.toThrow()
  })

  test.each([
    ['a rebound name', loopback, { host: 'evil.example:8420' }],
    ['a name that only starts alike', loopback, { host: 'localhost.evil.example' }],
    ['no host', loopback, {}],
    ['a foreign page', loopback, { host: 'localhost:8420', origin: 'https://evil.example' }],
    ['a page without an origin of its own', loopback, { host: 'localhost:8420', origin: 'null' }],
    ['an address where names are configured', named, { host: '10.0.0.1' }],
    ['a foreign page where none is configured', open, { host: 'asyncgate', origin: 'https://evil.example' }],
  ])('%s is forbidden', (_what, guard, headers) => {
    expect(() => guard(headers)).toThrow(expect.objectContaining({ code: 'forbidden' }))
  })

  test('a name that has passed lets neither another name nor a foreign page pass', () => {
    const own = { host: 'localhost:8420' }
    const foreign = [{ host: 'evil.example' }, { ...own, origin: 'https://evil.example' }, {}]
    for (const headers of foreign) {
      expect(() => loopback(own)).not.toThrow()
      expect(() => loopback(headers)).toThrow(expect.objectContaining({ code: 'forbidden' }))
      expect(() => loopback(headers)).toThrow(expect.objectContaining({ code: 'forbidden' }))
    }
  })
})

describe('without credentials the guard stands before everything', () => {
  const dev = { authenticate: async () => SHARED_CALLER, asksForCredentials: false }
  test.each([
    ['a rebound name', { host: 'evil.example' }],
    ['a foreign page', { host: 'localhost', origin: 'https://evil.example' }],
  ])('%s cannot call REST', async (_what, headers) => {
    const { app, seen } = createTestApp({}, dev)
    const reply = await app.inject({ url: '/v1/config', headers })
    expect([reply.statusCode, reply.json().error]).toEqual([403, 'forbidden'])
    expect(seen).toEqual([])
  })

  test('a program on this machine can', async () => {
    const { app } = createTestApp({}, dev)
    const reply = await app.inject({ url: '/v1/config', headers: { host: 'localhost:8420' } })
    expect(reply.statusCode).toBe(200)
  })

  test('with a key REST is open to any name, MCP is not', async () => {
    const { app } = createTestApp()
    const headers = { host: 'evil.example', 'x-api-key': 'a-shared-key-of-the-tests' }
    expect((await app.inject({ url: '/v1/config', headers })).statusCode).toBe(200)
    expect((await app.inject({ method: 'POST', url: '/mcp', headers, payload: {} })).statusCode).toBe(403)
  })
})
