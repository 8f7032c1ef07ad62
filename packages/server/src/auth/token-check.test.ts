// What checking a token costs, and how soon it notices that one has ended.
import { SignJWT } from 'jose'
import { beforeAll, expect, test } from 'vitest'
import { createSeededRandom } from '../../test/seeded-random.ts'
import { createMemoryStore } from '../store/memory/index.ts'
import { artifactKey } from './artifact-key.ts'
import { createSigningKeys, type SigningKeys } from './signing-keys.ts'
import { createTokenCheck, isToken } from './token-check.ts'

const ISSUER = 'https://gate.example'
const ACCOUNT_ID = '0198c0de-0000-7000-8000-000000000001'
const REFUSED = { code: 'unauthenticated', message: expect.stringContaining('not valid') }
const START = 1_700_000_000_000
const DAY_SECONDS = 86_400

const ADA = {
  tenantId: 'default',
  accountId: ACCOUNT_ID,
  username: 'ada',
  passwordHash: null,
  subject: 'ada',
  principal: { kind: 'human', id: 'ada' },
  role: 'agent',
  createdAt: 0,
  createdBy: { kind: 'human', id: 'ada' },
  disabledAt: null,
} as const

let now = START
const clock = { now: () => now }
const random = createSeededRandom(3)
const secret = 's'.repeat(32)
const store = createMemoryStore()
let keys: SigningKeys

beforeAll(async () => {
  keys = createSigningKeys({ store, secret, clock, random })
  await store.addAccount(ADA)
})

async function setUp() {
  now = START
  const grant = { payload: {}, grantId: 'g', uid: null, accountId: ACCOUNT_ID, clientId: null }
  await store.putArtifact({ key: artifactKey('Grant', 'g'), ...grant, expiresAt: START + 1e10 })
  await store.disableAccount({ tenantId: 'default', accountId: ACCOUNT_ID, disabledAt: null })
  const cost = { lookups: 0, keys: 0 }
  const check = createTokenCheck({
    store: {
      findGrant: (key) => {
        cost.lookups += 1
        return store.findGrant(key)
      },
    },
    keys: {
      publicKey: (keyId) => {
        cost.keys += 1
        return keys.publicKey(keyId)
      },
    },
    clock,
    random,
    issuer: ISSUER,
    audiences: [ISSUER, `${ISSUER}/mcp`],
  })
  return { check, cost }
}

async function token(over: object = {}): Promise<string> {
  const { crypto } = globalThis
  const [jwk] = (await keys.current()).keys
  const key = await crypto.subtle.importKey(
    'jwk',
    jwk!,
    { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
    false,
    ['sign'],
  )
  const iat = START / 1_000
  const claims = {
    ...{ sub: ACCOUNT_ID, tenant_id: 'default', principal_kind: 'human', principal_id: 'ada', grant_id: 'g' },
    ...{ scope: 'tasks:read admin:write', iss: ISSUER, aud: ISSUER, iat, exp: iat + DAY_SECONDS },
    ...over,
  }
  return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: jwk!.kid }).sign(key)
}

test('a token gives what its account may, within its scopes', async () => {
  const { check } = await setUp()
  await expect(check(await token())).resolves.toEqual({
    tenantId: 'default',
    principal: ADA.principal,
    role: 'agent',
    scopes: new Set(['tasks:read']),
    speaksForAll: false,
    canAskForMore: true,
  })
})

test('a token that is remembered costs neither a signature nor the database', async () => {
  const { check, cost } = await setUp()
  const text = await token()
  for (let at = 0; at < 10; at += 1) await check(text)
  expect(cost).toEqual({ lookups: 1, keys: 1 })
  now += 29_999
  await check(text)
  expect(cost).toEqual({ lookups: 1, keys: 1 })
  now += 1
  await check(text)
  expect(cost).toEqual({ lookups: 2, keys: 2 })
  now -= 1 // the clock was set back, and nobody knows how long ago it was read
  await check(text)
  expect(cost).toEqual({ lookups: 3, keys: 3 })
})

test('what has no good signature never reaches the database', async () => {
  const { check, cost } = await setUp()
  const [head, payload] = (await token()).split('.')
  for (const text of [`${head}.${payload}.AAAA`, `${head}.${payload}.`, 'a.b.c']) {
    expect(isToken(text)).toBe(true)
    await expect(check(text)).rejects.toMatchObject(REFUSED)
  }
  expect(cost.lookups).toBe(0)
})

test('an ended grant or a disabled account is noticed after half a minute', async () => {
  const ends = [
    () => store.removeGrant('g'),
    () => store.disableAccount({ tenantId: 'default', accountId: ACCOUNT_ID, disabledAt: 1 }),
  ]
  for (const end of ends) {
    const { check } = await setUp()
    const text = await token()
    await check(text)
    await end()
    now += 29_999
    await check(text)
    now += 1
    await expect(check(text)).rejects.toMatchObject(REFUSED)
  }
})

test('an end holds to the second, remembered or not', async () => {
  const { check } = await setUp()
  const text = await token({ exp: START / 1_000 + 10 })
  now += 9_999
  await check(text)
  now += 1
  await expect(check(text)).rejects.toMatchObject(REFUSED)
})

test('a grant that has ended by itself is no grant', async () => {
  const { check } = await setUp()
  const grant = { payload: {}, grantId: 'g', uid: null, accountId: ACCOUNT_ID, clientId: null }
  await store.putArtifact({ key: artifactKey('Grant', 'g'), ...grant, expiresAt: START })
  await expect(check(await token())).rejects.toMatchObject(REFUSED)
})

test('keys, and whatever else is no JWT, are no tokens', () => {
  for (const text of ['aga_0000000000', 'a.b', 'a.b.c.d', '..', 'a b.c.d', ''])
    expect(isToken(text)).toBe(false)
})
