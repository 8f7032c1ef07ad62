// What checking a key costs, and how soon it notices that a key has ended.
import type { GateError } from '@asyncgate/sdk'
import { describe, expect, test } from 'vitest'
import { apiKey } from '../../test/api-key.ts'
import { createSeededRandom } from '../../test/seeded-random.ts'
import { createMemoryStore } from '../store/memory/index.ts'
import type { ApiKey } from '../store/keys.ts'
import { createKeyCheck } from './key-check.ts'
import { makeKey } from './key-text.ts'
import { matchesHash } from './secret-hash.ts'

const TENANT = 'acme'
const KEY_ID = '0198c0de-0000-7000-8000-000000000001'
const REFUSED = { code: 'unauthenticated', message: expect.stringContaining('not valid') }

async function setUp(over: Partial<ApiKey> = {}) {
  const store = createMemoryStore()
  const random = createSeededRandom(7)
  const { text, key } = await apiKey(random, { tenantId: TENANT, keyId: KEY_ID, ...over })
  await store.addKey(key)
  const cost = { lookups: 0, hashes: 0 }
  let now = 1_000_000
  const checkAtOnce = createKeyCheck({
    store: {
      findKey: (prefix) => {
        cost.lookups += 1
        return store.findKey(prefix)
      },
    },
    clock: { now: () => now },
    random,
    matches: (secret, hash) => {
      cost.hashes += 1
      return matchesHash(secret, hash)
    },
  })
  const check = async (secret: string) => checkAtOnce(secret)
  const pass = (ms: number) => (now += ms)
  return { store, random, text, key, check, checkAtOnce, cost, pass, now: () => now }
}

/** Another secret behind the same beginning, with a checksum that fits. */
function guess(prefix: string, seed = 99): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  const wanted = Array.from(prefix.slice('aga_'.length), (digit) => digits.indexOf(digit))
  const { below } = createSeededRandom(seed)
  return makeKey({ below: (bound) => wanted.shift() ?? below(bound) }).text
}

test('a key gives its tenant, principal, role and scopes', async () => {
  const { check, text } = await setUp()
  await expect(check(text)).resolves.toEqual({
    tenantId: TENANT,
    principal: { kind: 'agent', id: 'alice' },
    role: 'agent',
    scopes: new Set(['tasks:read', 'tasks:write']),
    speaksForAll: false,
  })
})

test('only admin:write speaks for others', async () => {
  const reader = await setUp({ role: 'admin', scopes: ['admin:read'] })
  await expect(reader.check(reader.text)).resolves.toMatchObject({ speaksForAll: false })
  const writer = await setUp({ role: 'service', scopes: ['admin:write'] })
  await expect(writer.check(writer.text)).resolves.toMatchObject({ speaksForAll: true })
})

describe('what is refused costs', () => {
  test.each(['', 'aga_', 'secret', `aga_${'a'.repeat(52)}`])(
    'nothing when it is no key: %j',
    async (text) => {
      const { check, cost } = await setUp()
      await expect(check(text)).rejects.toMatchObject(REFUSED)
      expect(cost).toEqual({ lookups: 0, hashes: 0 })
    },
  )

  test('a lookup and no hash when it is unknown', async () => {
    const { check, cost, random } = await setUp()
    await expect(check(makeKey(random).text)).rejects.toMatchObject(REFUSED)
    expect(cost).toEqual({ lookups: 1, hashes: 0 })
  })

  test.each([{ revokedAt: 5 }, { expiresAt: 1_000_000 }])('a lookup and no hash with %o', async (over) => {
    const { check, cost, text } = await setUp(over)
    await expect(check(text)).rejects.toMatchObject(REFUSED)
    expect(cost).toEqual({ lookups: 1, hashes: 0 })
  })

  test('one hash for a guess behind a known beginning, however often it is repeated', async () => {
    const { check, cost, key, text } = await setUp()
    const wrong = guess(key.prefix)
    for (let times = 0; times < 3; times += 1) await expect(check(wrong)).rejects.toMatchObject(REFUSED)
    expect(cost.hashes).toBe(1)
    await expect(check(text)).resolves.toMatchObject({ tenantId: TENANT })
  })
})

describe('what is accepted costs', () => {
  test('one lookup and one hash for the first request, nothing for the next', async () => {
    const { check, cost, text, pass } = await setUp()
    await check(text)
    pass(29_999)
    await check(text)
    expect(cost).toEqual({ lookups: 1, hashes: 1 })
  })

  test('not even a turn of the event loop once it is known', async () => {
    const { check, checkAtOnce, text } = await setUp()
    const caller = await check(text)
    expect(checkAtOnce(text)).toBe(caller)
  })

  test('the same for keys in turns, each with its own caller', async () => {
    const { check, checkAtOnce, cost, store, random, text } = await setUp()
    const other = await apiKey(random, { tenantId: 'other', keyId: KEY_ID.replace(/1$/, '2') })
    await store.addKey(other.key)
    await Promise.all([check(text), check(other.text)])
    for (let times = 0; times < 3; times += 1) {
      expect(checkAtOnce(text)).toMatchObject({ tenantId: TENANT })
      expect(checkAtOnce(other.text)).toMatchObject({ tenantId: 'other' })
    }
    expect(cost).toEqual({ lookups: 2, hashes: 2 })
  })

  test('one lookup each half minute, and no hash again', async () => {
    const { check, cost, text, pass } = await setUp()
    for (let times = 0; times < 5; times += 1) {
      await check(text)
      pass(30_000)
    }
    expect(cost).toEqual({ lookups: 5, hashes: 1 })
  })

  test('one hash for many requests at once', async () => {
    const { check, cost, text } = await setUp()
    await Promise.all(Array.from({ length: 50 }, () => check(text)))
    expect(cost).toEqual({ lookups: 1, hashes: 1 })
  })
})

test('what differs from a known key in one character is refused, and the key still works', async () => {
  const { check, checkAtOnce, text, cost } = await setUp()
  await check(text)
  for (let at = 0; at < text.length; at += 1) {
    const swapped = text[at] === 'a' ? 'b' : 'a'
    await expect(check(text.slice(0, at) + swapped + text.slice(at + 1))).rejects.toMatchObject(REFUSED)
  }
  for (const near of [text.toUpperCase(), ` ${text.slice(1)}`, `${text} `, '__proto__', 'x'.repeat(16_000)])
    await expect(check(near)).rejects.toMatchObject(REFUSED)
  expect(checkAtOnce(text)).toMatchObject({ tenantId: TENANT })
  expect(cost).toEqual({ lookups: 1, hashes: 1 })
})

test('after the clock was set back a known key is read again, and stays refused once it was revoked', async () => {
  const { check, text, store, pass, now } = await setUp()
  await check(text)
  await store.revokeKey({ tenantId: TENANT, keyId: KEY_ID, now: now() })
  pass(-500_000)
  await expect(check(text)).rejects.toMatchObject(REFUSED)
})

test('a revoked key is refused within a minute', async () => {
  const { check, text, store, pass, now } = await setUp()
  await check(text)
  await store.revokeKey({ tenantId: TENANT, keyId: KEY_ID, now: now() })
  pass(60_000)
  await expect(check(text)).rejects.toMatchObject(REFUSED)
})

test('the keys of a suspended tenant are refused within a minute, and work again after it', async () => {
  const { check, text, store, pass, cost, now } = await setUp()
  await store.addTenant({
    tenantId: TENANT,
    name: null,
    tier: 'enterprise',
    limits: {},
    createdAt: 0,
    suspendedAt: null,
  })
  await check(text)
  await store.suspendTenant({ tenantId: TENANT, suspendedAt: now() })
  pass(60_000)
  const refused = { code: 'forbidden', message: expect.stringContaining('suspended') }
  await expect(check(text)).rejects.toMatchObject(refused)
  await expect(check(text)).rejects.toMatchObject(refused)
  await store.suspendTenant({ tenantId: TENANT, suspendedAt: null })
  pass(60_000)
  await expect(check(text)).resolves.toMatchObject({ tenantId: TENANT })
  expect(cost).toEqual({ lookups: 3, hashes: 1 })
})

test('a key expires at its very moment, also while it is remembered', async () => {
  const { check, text, pass } = await setUp({ expiresAt: 1_010_000 })
  pass(9_999)
  await check(text)
  pass(1)
  await expect(check(text)).rejects.toMatchObject(REFUSED)
})

test('a key whose hash was changed is hashed again', async () => {
  const { check, text, store, key, cost, pass, random } = await setUp()
  await check(text)
  const other = await apiKey(random, { tenantId: TENANT, keyId: KEY_ID })
  await store.addKey({ ...key, secretHash: other.key.secretHash })
  pass(30_000)
  await expect(check(text)).rejects.toMatchObject(REFUSED)
  expect(cost.hashes).toBe(2)
})

test('a flood of guesses is turned away, and a key that is known still works', async () => {
  const { store, random, text, key } = await setUp()
  const { promise: released, resolve: release } = Promise.withResolvers<false>()
  let isSlow = false
  const checkAtOnce = createKeyCheck({
    store,
    clock: { now: () => 1_000_000 },
    random,
    matches: (secret, hash) => (isSlow ? released : matchesHash(secret, hash)),
  })
  const check = async (secret: string) => checkAtOnce(secret)
  await check(text)
  isSlow = true
  const guesses = Array.from({ length: 150 }, (_, seed) => guess(key.prefix, seed))
  const outcomes = Promise.all(
    guesses.map((one) =>
      check(one).then(
        () => 'accepted',
        (error: GateError) => error.code,
      ),
    ),
  )
  await expect(check(text)).resolves.toMatchObject({ tenantId: TENANT })
  release(false)
  const counted = Object.groupBy(await outcomes, (outcome) => outcome)
  expect(counted['rate_limit_exceeded']).toHaveLength(48)
  expect(counted['unauthenticated']).toHaveLength(102)
})
