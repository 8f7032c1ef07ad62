// Tenants in memory. The default one is there from the start.
import type { Tenant, TenantStore } from '../tenants.ts'

export function createMemoryTenants(): TenantStore {
  const first: Tenant = {
    tenantId: 'default',
    name: null,
    tier: 'enterprise',
    limits: {},
    createdAt: 0,
    suspendedAt: null,
  }
  const tenants = new Map([[first.tenantId, first]])
  const change = (tenantId: string, to: (tenant: Tenant) => Tenant) => {
    const tenant = tenants.get(tenantId)
    if (tenant === undefined) return null
    const changed = to(tenant)
    tenants.set(tenantId, changed)
    return changed
  }
  return {
    readTenant: async (tenantId) => tenants.get(tenantId) ?? null,
    listTenants: async ({ after, limit }) =>
      [...tenants.values()]
        .filter(({ tenantId }) => after === null || tenantId > after)
        .toSorted((a, b) => (a.tenantId < b.tenantId ? -1 : 1))
        .slice(0, limit),
    addTenant: async (tenant) => {
      if (tenants.has(tenant.tenantId)) return false
      tenants.set(tenant.tenantId, tenant)
      return true
    },
    suspendTenant: async ({ tenantId, suspendedAt }) =>
      change(tenantId, (tenant) => {
        const since = suspendedAt === null ? null : (tenant.suspendedAt ?? suspendedAt)
        return { ...tenant, suspendedAt: since }
      }),
    limitTenant: async ({ tenantId, tier, limits }) =>
      change(tenantId, (tenant) => ({ ...tenant, tier, limits })),
  }
}
