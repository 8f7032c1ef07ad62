// The checks of `asyncgate doctor`: each says ok, or what is wrong and how to mend it.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type ConfigValues, configOf } from '../../config.ts'
import { createMemoryStore } from '../../store/memory/index.ts'
import type { Store } from '../../store/port.ts'
import { makeCertificate } from '../../../test/certificate.ts'
import { checkChannels } from './channel-checks.ts'
import { examineDatabase } from './database-checks.ts'
import { EXPOSURE_CHECKS } from './exposure-checks.ts'
import { checkAccess, checkAddress, checkNode } from './machine-checks.ts'

test.each([
  ['24.7.0', 'ok'],
  ['24.10.1', 'ok'],
  ['24.6.9', 'fail'],
  ['26.10.0', 'ok'],
  ['22.19.0', 'fail'],
])('Node %s is %s', (version, status) => {
  expect(checkNode(version).status).toBe(status)
})

const SIGN_IN = { issuer: 'https://gate.example.org', secret: 'change-me'.repeat(4) }
const LONG_KEY = '0f3c9a7d5be1642a88c1d07e'
test.each<[string, ConfigValues, string]>([
  ['a long key', { auth: { api_key: LONG_KEY } }, 'ok'],
  ['a short key', { auth: { api_key: 'secret' } }, 'warn'],
  ['development mode', { auth: { mode: 'dev' } }, 'warn'],
  ['a guessable secret for signing in', { oauth: SIGN_IN }, 'warn'],
  ['a guessable secret for signing in, in production', { oauth: SIGN_IN, environment: 'production' }, 'fail'],
  ['API keys alone', { environment: 'production' }, 'ok'],
  ['development mode in production', { auth: { mode: 'dev' }, environment: 'production' }, 'fail'],
])('access with %s: %s', (_what, values, status) => {
  expect(checkAccess(configOf(values)).status).toBe(status)
})

const NOW = Date.parse('2026-06-01T00:00:00Z')
const OUTSIDE = { host: '0.0.0.0', environment: 'production' } as const
test.each<[string, ConfigValues, string, string]>([
  ['environment', { host: '0.0.0.0' }, 'warn', 'can be reached by others'],
  ['environment', OUTSIDE, 'ok', 'production'],
  ['environment', {}, 'ok', 'on loopback'],
  ['transport', OUTSIDE, 'warn', 'in the clear'],
  ['transport', { ...OUTSIDE, http: { trusted_proxies: ['10.0.0.1'] } }, 'ok', '10.0.0.1'],
  ['transport', {}, 'ok', 'loopback'],
  ['transport', { tls: { cert_file: '/nowhere/c', key_file: '/nowhere/k' } }, 'fail', "can't be read"],
  ['transport', { tls: { cert_file: '/nowhere/c' } }, 'fail', 'missing'],
  ['browsers', {}, 'ok', 'no pages of other origins'],
  ['browsers', { http: { cors_origins: ['https://app.example.org'] } }, 'ok', 'app.example.org'],
  ['browsers', { http: { cors_origins: ['http://localhost:5173'] } }, 'ok', 'localhost'],
  ['browsers', { http: { cors_origins: ['http://app.example.org'] } }, 'warn', 'anybody on the way'],
  ['metrics', { ...OUTSIDE, metrics: { public: true } }, 'warn', 'Anybody'],
  ['metrics', { metrics: { public: true } }, 'ok', 'on loopback'],
  ['links', { database: { url: 'postgres://gate:x9@db.example.org/gate' } }, 'warn', 'not encrypted'],
  [
    'links',
    { database: { url: 'postgres://gate:x9@db.example.org/gate?sslmode=verify-full' } },
    'ok',
    'encrypted',
  ],
  ['links', { database: { url: 'postgres://gate:postgres@127.0.0.1/gate' } }, 'warn', 'well known'],
  ['links', { database: { url: 'postgres://gate:x9@/gate?host=/run/postgresql' } }, 'ok', 'on this machine'],
  ['links', { database: { url: 'postgres://gate:x9@%2Frun%2Fpostgresql/gate' } }, 'ok', 'on this machine'],
  ['links', { database: { url: 'postgres://gate:admin@/gate?host=/run/pg' } }, 'warn', 'well known'],
  [
    'links',
    { database: { url: 'postgres://gate:x9@/gate?host=db.example.org' } },
    'warn',
    'to db.example.org is not',
  ],
  ['links', { database: { url: 'postgres://gate:x9@db.example.org/gate?host=' } }, 'warn', 'not encrypted'],
  [
    'links',
    { database: { url: 'postgres://gate:x9@db.example.org/gate?sslmode=' } },
    'warn',
    'not encrypted',
  ],
  [
    'links',
    { database: { url: 'postgres://gate:x9@h/gate?host=/run&host=db.example.org' } },
    'warn',
    'to db.',
  ],
  [
    'links',
    { database: { url: 'postgres://gate:100%@/gate?host=/run/postgresql' } },
    'ok',
    'on this machine',
  ],
  ['links', { database: { url: 'postgres:///gate?host=/run&password=postgres' } }, 'warn', 'well known'],
  ['links', { limits: { redis_url: 'redis://cache.example.org?host=/run' } }, 'warn', 'not encrypted'],
  ['links', { limits: { redis_url: 'redis://cache.example.org' } }, 'warn', 'not encrypted'],
  ['links', { limits: { redis_url: 'rediss://cache.example.org' } }, 'ok', 'encrypted'],
  ['links', {}, 'ok', 'none'],
])('%s with %j: %s, %s', (name, values, status, message) => {
  const finding = EXPOSURE_CHECKS[name]!(configOf(values), NOW)
  expect([finding.status, finding.message]).toEqual([status, expect.stringContaining(message)])
})

test.each([
  ['2048-11-01', 'ok', 'valid for'],
  ['2048-12-25', 'warn', 'expires in 7 days'],
  ['2049-02-01', 'fail', 'has expired'],
])('a certificate up to 2049 is, on %s, %s', async (day, status, message) => {
  const folder = await mkdtemp(join(tmpdir(), 'asyncgate-doctor-'))
  const { certFile, keyFile } = makeCertificate(folder, 'gate')
  const config = configOf({ tls: { cert_file: certFile, key_file: keyFile } })
  const finding = EXPOSURE_CHECKS.transport!(config, Date.parse(day))
  expect([finding.status, finding.message]).toEqual([status, expect.stringContaining(message)])
  await rm(folder, { recursive: true })
})

let server: Server | undefined
afterEach(() => {
  server?.close()
  server = undefined
})

async function serverAnswering(body: string): Promise<number> {
  const answering = createServer((_request, response) => response.end(body))
  server = answering
  await new Promise<void>((resolve) => answering.listen(0, '127.0.0.1', resolve))
  return (answering.address() as AddressInfo).port
}

test.each([
  ['a server that is ready', '{"status":"ready"}', 'ok', 'is ready'],
  ['a server without its database', '{"error":"database_unavailable"}', 'fail', 'has no database'],
  ['another program', '<html>', 'fail', 'taken by another program'],
])('the address is held by %s', async (_what, body, status, message) => {
  const port = await serverAnswering(body)
  const finding = await checkAddress(configOf({ port }))
  expect(finding.status).toBe(status)
  expect(finding.message).toContain(message)
})

test('the address is free', async () => {
  const port = await serverAnswering('')
  await new Promise((resolve) => server!.close(resolve))
  expect(await checkAddress(configOf({ port }))).toMatchObject({ status: 'ok' })
})

const examination = { cwd: tmpdir(), now: () => 1_000 }
const memory = configOf({ database: { url: 'memory:' } })
const statuses = (found: Readonly<Record<string, { status: string }>>) =>
  Object.fromEntries(Object.entries(found).map(([name, { status }]) => [name, status]))
const storeWith = (changes: Partial<Store>) => async () => ({ ...createMemoryStore(), ...changes })

test('a memory store is well but keeps nothing', async () => {
  const found = await examineDatabase(memory, { ...examination, openStore: storeWith({}) })
  expect(statuses(found)).toEqual({
    database: 'ok',
    schema: 'ok',
    tenants: 'ok',
    durability: 'warn',
    clock: 'ok',
    ledger: 'ok',
    keys: 'warn',
  })
})

test('missing migrations and an index that disagrees with the ledger are failures with a fix', async () => {
  const openStore = storeWith({
    pendingMigrations: async () => ['0002_more'],
    findDoubtfulObligations: async () => ['r1'],
    durability: async () => ({ level: 'full', detail: 'flushed' }),
  })
  const found = await examineDatabase(memory, { ...examination, openStore })
  expect(statuses(found)).toMatchObject({ schema: 'fail', durability: 'ok', ledger: 'fail' })
  expect(found.schema).toMatchObject({ fix: 'Run: asyncgate migrate' })
  expect(found.ledger?.message).toContain('r1')
})

test.each<[string, ConfigValues, boolean, string]>([
  ['no key at all', {}, false, 'warn'],
  ['no key at all in production', { environment: 'production' }, false, 'fail'],
  ['an API key', { environment: 'production' }, true, 'ok'],
  ['the shared key alone', { auth: { api_key: LONG_KEY } }, false, 'ok'],
  ['development mode', { auth: { mode: 'dev' } }, false, 'ok'],
])('keys with %s', async (_what, values, found, status) => {
  const openStore = storeWith({ hasLiveKeys: async () => found })
  const { keys } = await examineDatabase(configOf({ ...values, database: { url: 'memory:' } }), {
    ...examination,
    openStore,
  })
  expect(keys?.status).toBe(status)
})

test('where there are no keys but the shared one, it is said what callers use', async () => {
  const config = configOf({ auth: { api_key: LONG_KEY }, database: { url: 'memory:' } })
  const openStore = storeWith({ hasLiveKeys: async () => false })
  const { keys } = await examineDatabase(config, { ...examination, openStore })
  expect(keys?.message).toContain('auth.api_key')
  expect(keys?.message).not.toContain(LONG_KEY)
})

test.each([
  [1_500, 'ok', '500 ms ahead of ours'],
  [-9_000, 'warn', '10000 ms behind ours'],
])('a database clock that says %s ms is %s', async (toldAt, status, message) => {
  const openStore = async () => ({
    ...createMemoryStore(),
    kind: 'postgres' as const,
    readClock: async () => toldAt,
  })
  const { clock } = await examineDatabase(memory, { ...examination, openStore })
  expect(clock?.status).toBe(status)
  expect(clock?.message).toContain(message)
})

test('a database that does not answer fails once, and the rest is skipped', async () => {
  const openStore = storeWith({
    ping: async () => {
      throw new Error('connection refused')
    },
  })
  const found = await examineDatabase(memory, { ...examination, openStore })
  expect(statuses(found)).toEqual({
    database: 'fail',
    schema: 'skipped',
    tenants: 'skipped',
    durability: 'skipped',
    clock: 'skipped',
    ledger: 'skipped',
    keys: 'skipped',
  })
  expect(found.database?.message).toContain('connection refused')
})

test('a database file that is not there is not created by looking at it', async () => {
  const config = configOf({ database: { url: 'sqlite:./asyncgate-that-is-not-there.db' } })
  const openStore = async () => {
    throw new Error('opened')
  }
  const found = await examineDatabase(config, { ...examination, openStore })
  expect(found.database).toMatchObject({ status: 'ok' })
})

test.each<[string, ConfigValues, string, string]>([
  [
    'beside an SQLite database',
    { database: { url: `sqlite:${tmpdir()}/x.db` } },
    'ok',
    'large results go to blob',
  ],
  ['nowhere for large results', { database: { url: 'memory:' } }, 'warn', 'no place for results'],
  ['a file for a folder', { channels: { blob_path: import.meta.filename } }, 'fail', 'is not a folder'],
  ['a default without a bucket', { channels: { default: 's3' } }, 'fail', 'channels.s3_bucket is not set'],
  [
    'a store that does not answer',
    {
      channels: {
        blob_path: tmpdir(),
        s3_bucket: 'results',
        s3_endpoint: 'http://127.0.0.1:9',
        s3_access_key_id: 'x',
        s3_secret_access_key: 'x',
      },
    },
    'fail',
    'ECONNREFUSED',
  ],
])('channels: %s', async (_what, values, status, message) => {
  const finding = await checkChannels(configOf(values))
  expect(finding).toMatchObject({ status, message: expect.stringContaining(message) })
})
