// Health, metrics and the pages about the server.
import { contract } from '@asyncgate/sdk'
import { expect, test } from 'vitest'
import { authorized, callerWith, createTestApp } from '../../test/facade-kit.ts'

test('liveness asks nobody, readiness asks the database', async () => {
  const { app } = createTestApp(
    {},
    {
      ready: async () => false,
      health: async () => {
        throw new Error('database away')
      },
    },
  )
  expect((await app.inject('/health/live')).statusCode).toBe(200)
  const ready = await app.inject('/health/ready')
  expect([ready.statusCode, ready.json().error]).toEqual([503, 'database_unavailable'])
  expect(ready.headers['retry-after']).toBeDefined()
  const health = await app.inject('/health')
  expect([health.statusCode, health.json()]).toEqual([200, { status: 'degraded' }])
})

test('health and readiness when all is well', async () => {
  const { app } = createTestApp()
  expect((await app.inject('/health')).json()).toEqual({ status: 'ok' })
  expect((await app.inject('/health/ready')).json()).toEqual({ status: 'ready' })
})

test('metrics are for administrators, unless they are public', async () => {
  const { app } = createTestApp()
  expect((await app.inject('/metrics')).statusCode).toBe(401)
  const reply = await app.inject({ url: '/metrics', headers: authorized })
  expect([reply.body, reply.headers['content-type']]).toEqual([
    'asyncgate_up 1\n',
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  const agent = async () => callerWith({ role: 'agent', scopes: new Set(['tasks:read']) })
  expect((await createTestApp({}, { authenticate: agent }).app.inject('/metrics')).statusCode).toBe(403)
  expect((await createTestApp({}, { metricsPublic: true }).app.inject('/metrics')).statusCode).toBe(200)
})

test('the API page shows every operation and loads nothing from elsewhere', async () => {
  const { app } = createTestApp()
  const { body, headers } = await app.inject('/docs')
  expect(headers['content-type']).toContain('text/html')
  expect(headers['content-security-policy']).toContain("default-src 'none'")
  for (const { route } of Object.values(contract)) expect(body).toContain(route.split(' ')[1])
  expect(body).not.toMatch(/<script|src="http|@import|undefined|\[object/)
})

test('the root leads people and programs to the rest', async () => {
  const { app } = createTestApp()
  expect((await app.inject('/')).json()).toMatchObject({ name: 'asyncgate', docs: '/docs', mcp: '/mcp' })
  const page = await app.inject({ url: '/', headers: { accept: 'text/html' } })
  expect(page.body).toContain('href="/docs"')
})

test('the OpenAPI document is served', async () => {
  const { app } = createTestApp()
  expect((await app.inject('/openapi.json')).json()).toMatchObject({
    openapi: '3.1.1',
    info: { version: '1.2.3' },
  })
})
