// The registry of task types: kept as it was put, replaced as a whole, apart for each tenant.
import { expect, test } from 'vitest'
import type { TaskType } from '../../src/store/task-types.ts'
import type { Given } from './conformance.ts'

const T = 1_700_000_000_000
let count = 0
const freshTenant = () => `types-${process.pid}-${(count += 1)}`

const EVERYTHING = {
  description: 'prints pages ✓',
  paramsSchema: '{"type":"object","ö":[1.5e300,"\\u0001"]}',
  defaultPriority: -2_147_483_647,
  defaultMaxAttempts: 1_000,
  defaultTimeoutSeconds: 315_360_000,
  defaultRetentionDays: 36_500,
  defaultResultChannel: 's3',
  estimatedRuntimeSeconds: 0,
  pollSuggestionSeconds: 1,
  maxPayloadBytes: 2_147_483_647,
  maxConcurrent: 2_147_483_647,
  enabled: true,
}
const NOTHING = Object.fromEntries(Object.keys(EVERYTHING).map((name) => [name, null])) as unknown as TaskType

const typeOf = (tenantId: string, type: string, settings: Partial<TaskType> = {}): TaskType => ({
  ...{ ...NOTHING, tenantId, type, enabled: false, createdAt: T, updatedAt: T },
  ...settings,
})

export function taskTypes(given: Given): void {
  test('a type is kept as it was put, by whichever instance asks', async () => {
    const { store, beside } = given()
    const tenantId = freshTenant()
    for (const settings of [EVERYTHING, { ...NOTHING, enabled: false }]) {
      const type = typeOf(tenantId, 'größe/1', {
        ...settings,
        tenantId,
        type: 'größe/1',
        createdAt: T,
        updatedAt: T,
      })
      await expect(store.putType(type)).resolves.toEqual(type)
      await expect(beside.readType(tenantId, 'größe/1')).resolves.toEqual(type)
    }
    await expect(beside.readType(tenantId, 'Größe/1')).resolves.toBeNull()
    await expect(beside.readType(freshTenant(), 'größe/1')).resolves.toBeNull()
  })

  test('putting again replaces everything but the time of the first', async () => {
    const { store, beside } = given()
    const tenantId = freshTenant()
    await store.putType(typeOf(tenantId, 'a', EVERYTHING))
    const second = typeOf(tenantId, 'a', { createdAt: T + 5, updatedAt: T + 5 })
    await expect(beside.putType(second)).resolves.toEqual({ ...second, createdAt: T })
    await expect(store.readType(tenantId, 'a')).resolves.toEqual({ ...second, createdAt: T })
  })

  test('lists are in the order of names, page by page, of one tenant', async () => {
    const { store, beside } = given()
    const tenantId = freshTenant()
    for (const name of ['b', 'ä', 'B', 'a.b', 'a']) await store.putType(typeOf(tenantId, name))
    await store.putType(typeOf(freshTenant(), 'aa'))
    const first = await beside.listTypes({ tenantId, after: null, limit: 3 })
    expect(first.map(({ type }) => type)).toEqual(['B', 'a', 'a.b'])
    const rest = await beside.listTypes({ tenantId, after: 'a.b', limit: 3 })
    expect(rest.map(({ type }) => type)).toEqual(['b', 'ä'])
  })

  test('a type is deleted once, and is told as it was', async () => {
    const { store, beside } = given()
    const tenantId = freshTenant()
    const type = typeOf(tenantId, 'a', EVERYTHING)
    await store.putType(type)
    await expect(store.deleteType(freshTenant(), 'a')).resolves.toBeNull()
    await expect(beside.deleteType(tenantId, 'a')).resolves.toEqual(type)
    await expect(store.deleteType(tenantId, 'a')).resolves.toBeNull()
    await expect(store.readType(tenantId, 'a')).resolves.toBeNull()
  })

  test('a tenant accepts registered types alone once it says so', async () => {
    const { store, beside } = given()
    const tenantId = freshTenant()
    const said = async () => [
      await store.readRegisteredOnly(tenantId),
      await beside.readRegisteredOnly(tenantId),
    ]
    expect(await said()).toEqual([false, false])
    for (const registeredOnly of [true, true, false, false, true]) {
      await store.setRegisteredOnly(tenantId, registeredOnly)
      expect(await said()).toEqual([registeredOnly, registeredOnly])
    }
    await expect(store.readRegisteredOnly(freshTenant())).resolves.toBe(false)
  })
}
