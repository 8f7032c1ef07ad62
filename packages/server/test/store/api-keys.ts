// API keys: found by their beginning whatever the tenant, otherwise by their tenant alone.
import { expect, test } from 'vitest'
import { createIds } from '../../src/ids.ts'
import type { ApiKey } from '../../src/store/keys.ts'
import { apiKey } from '../api-key.ts'
import { createSeededRandom } from '../seeded-random.ts'
import type { Given } from './conformance.ts'

const NOWHERE = '0198c0de-0000-7000-8000-000000000001'
const T = 1_700_000_000_000
let tenants = 0

function setUp(given: Given) {
  const { store, beside } = given()
  const seed = (tenants += 1)
  const random = createSeededRandom(seed * 7_919)
  const ids = createIds({ clock: { now: () => T, after: () => () => {} }, random })
  const tenantId = `keys ${process.pid} ${seed}`
  const add = async (over: Partial<ApiKey> = {}): Promise<ApiKey> => {
    const { key } = await apiKey(random, { tenantId, keyId: ids.next(), createdAt: T, ...over })
    await store.addKey(key)
    return key
  }
  const draft = async (): Promise<ApiKey> => (await apiKey(random, { tenantId, keyId: ids.next() })).key
  return { store, beside, tenantId, add, draft }
}

export function apiKeys(given: Given): void {
  test('a key comes back as it was added, on another instance too', async () => {
    const { beside, add, tenantId } = setUp(given)
    const plain = await add()
    const full = await add({
      name: "Ada's ключ 🔑",
      principal: { kind: 'service', id: 'a/b' },
      role: 'service',
      scopes: [],
      expiresAt: T + 1,
      revokedAt: T + 2,
    })
    for (const key of [plain, full]) {
      await expect(beside.findKey(key.prefix)).resolves.toEqual({ ...key, isTenantSuspended: false })
      await expect(beside.readKey(tenantId, key.keyId)).resolves.toEqual(key)
    }
  })

  test('what is not there is null, and another tenant has nothing of it', async () => {
    const { store, add, tenantId } = setUp(given)
    const { keyId } = await add()
    await expect(store.findKey('aga_0000000000')).resolves.toBeNull()
    await expect(store.readKey(tenantId, NOWHERE)).resolves.toBeNull()
    await expect(store.readKey(tenantId, 'no uuid')).resolves.toBeNull()
    await expect(store.readKey('another', keyId)).resolves.toBeNull()
    await expect(store.revokeKey({ tenantId: 'another', keyId, now: T })).resolves.toBeNull()
    await expect(store.listKeys({ tenantId: 'another', before: null, limit: 10 })).resolves.toEqual([])
    await expect(store.readKey(tenantId, keyId)).resolves.toMatchObject({ revokedAt: null })
  })

  test('lists are newest first, page by page', async () => {
    const { store, add, tenantId } = setUp(given)
    const made = [await add(), await add(), await add()].map(({ keyId }) => keyId)
    const list = async (before: string | null, limit: number) =>
      (await store.listKeys({ tenantId, before, limit })).map(({ keyId }) => keyId)
    await expect(list(null, 10)).resolves.toEqual(made.toReversed())
    await expect(list(null, 2)).resolves.toEqual([made[2], made[1]])
    await expect(list(made[1]!, 2)).resolves.toEqual([made[0]])
  })

  test('a revocation keeps its first time', async () => {
    const { store, beside, add, tenantId } = setUp(given)
    const { keyId, prefix } = await add()
    await expect(store.revokeKey({ tenantId, keyId, now: T + 5 })).resolves.toMatchObject({
      revokedAt: T + 5,
    })
    await expect(beside.revokeKey({ tenantId, keyId, now: T + 9 })).resolves.toMatchObject({
      revokedAt: T + 5,
    })
    await expect(beside.findKey(prefix)).resolves.toMatchObject({ revokedAt: T + 5 })
  })

  test('a replacement is added, and the old key ends when it should or when it would have', async () => {
    const { store, add, draft, tenantId } = setUp(given)
    const endings: [number | null, number][] = [
      [null, T + 100],
      [T + 500, T + 100],
      [T + 50, T + 50],
    ]
    for (const [expiresAt, ends] of endings) {
      const { keyId } = await add({ expiresAt })
      const replacement = await draft()
      await expect(store.replaceKey({ keyId, until: T + 100, now: T, replacement })).resolves.toBe(true)
      await expect(store.readKey(tenantId, keyId)).resolves.toMatchObject({ expiresAt: ends })
      await expect(store.findKey(replacement.prefix)).resolves.toMatchObject(replacement)
    }
  })

  test('what is not live is not replaced, and nothing is added', async () => {
    const { store, add, draft, tenantId } = setUp(given)
    const dead = [await add({ expiresAt: T }), await add({ revokedAt: T - 1 })]
    const other = await add({ tenantId: `${tenantId} another` })
    for (const keyId of [...dead.map((key) => key.keyId), other.keyId, NOWHERE, 'no uuid']) {
      const replacement = await draft()
      await expect(store.replaceKey({ keyId, until: T + 100, now: T, replacement })).resolves.toBe(false)
      await expect(store.findKey(replacement.prefix)).resolves.toBeNull()
    }
    await expect(store.readKey(other.tenantId, other.keyId)).resolves.toEqual(other)
  })

  test('a live key of any tenant is noticed', async () => {
    const { store, add } = setUp(given)
    await add()
    await expect(store.hasLiveKeys(T)).resolves.toBe(true)
  })
}
