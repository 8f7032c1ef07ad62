// Which tenants there are, and what a key says of a tenant that is suspended.
import { expect, test } from 'vitest'
import { systemIds, systemRandom } from '../../src/ids.ts'
import { apiKey } from '../api-key.ts'
import type { Tenant } from '../../src/store/tenants.ts'
import type { Given } from './conformance.ts'

const T = 1_700_000_000_000
let count = 0
const freshTenant = (): Tenant => ({
  tenantId: `t-${process.pid}-${(count += 1)}`,
  name: null,
  tier: 'enterprise',
  limits: {},
  createdAt: T,
  suspendedAt: null,
})

export function tenants(given: Given): void {
  test('the default tenant is there from the beginning', async () => {
    await expect(given().beside.readTenant('default')).resolves.toEqual({
      tenantId: 'default',
      name: null,
      tier: 'enterprise',
      limits: {},
      createdAt: 0,
      suspendedAt: null,
    })
  })

  test('a tenant is added once, and stays as it was first added', async () => {
    const { store, beside } = given()
    const tenant = { ...freshTenant(), name: 'Acme Inc. ✓' }
    await expect(store.addTenant(tenant)).resolves.toBe(true)
    await expect(beside.addTenant({ ...tenant, name: 'other' })).resolves.toBe(false)
    await expect(beside.readTenant(tenant.tenantId)).resolves.toEqual(tenant)
    await expect(store.readTenant(`${tenant.tenantId}x`)).resolves.toBeNull()
  })

  test('lists are in the order of ids, page by page', async () => {
    const { store } = given()
    const added = [freshTenant(), freshTenant(), freshTenant()]
    for (const tenant of added.toReversed()) await store.addTenant(tenant)
    const ids: string[] = []
    for (let after: string | null = null; ; ) {
      const page = await store.listTenants({ after, limit: 2 })
      ids.push(...page.map(({ tenantId }) => tenantId))
      if (page.length < 2) break
      after = page.at(-1)!.tenantId
    }
    expect(ids).toEqual(ids.toSorted())
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toEqual(expect.arrayContaining(['default', ...added.map(({ tenantId }) => tenantId)]))
  })

  test('what a tenant may have is replaced as a whole, and nothing else of it', async () => {
    const { store, beside } = given()
    const tenant: Tenant = { ...freshTenant(), tier: 'free', limits: { activeTasks: 5 } }
    const { tenantId } = tenant
    await store.addTenant(tenant)
    await expect(beside.readTenant(tenantId)).resolves.toEqual(tenant)
    const changed: Tenant = { ...tenant, tier: 'paid', limits: { callsPerHour: 7, receiptBytes: 0 } }
    await expect(store.limitTenant(changed)).resolves.toEqual(changed)
    await expect(beside.readTenant(tenantId)).resolves.toEqual(changed)
    await expect(store.limitTenant({ ...changed, tenantId: 'nobody' })).resolves.toBeNull()
  })

  test('a suspension keeps its first time, is undone, and shows at the keys of the tenant', async () => {
    const { store, beside } = given()
    const tenant = freshTenant()
    const { tenantId } = tenant
    await store.addTenant(tenant)
    const { key, prefix } = await apiKey(systemRandom, { tenantId, keyId: systemIds.next() })
    await store.addKey(key)
    const isSuspended = async () => (await beside.findKey(prefix))?.isTenantSuspended
    expect(await isSuspended()).toBe(false)
    for (const suspendedAt of [T + 1, T + 2])
      await expect(store.suspendTenant({ tenantId, suspendedAt })).resolves.toEqual({
        ...tenant,
        suspendedAt: T + 1,
      })
    expect(await isSuspended()).toBe(true)
    await expect(store.suspendTenant({ tenantId, suspendedAt: null })).resolves.toEqual(tenant)
    expect(await isSuspended()).toBe(false)
    await expect(store.suspendTenant({ tenantId: 'nobody', suspendedAt: T })).resolves.toBeNull()
  })
}
