// Tenants in SQL.
import type { Limits, Tenant, TenantStore } from '../tenants.ts'
import type { Driver } from './session.ts'
import {
  addTenant,
  limitTenant,
  listTenants,
  readTenant,
  suspendTenant,
  type TenantRow,
} from './statements/tenants.ts'
import { inTransaction } from './transact.ts'

export function createSqlTenants(driver: Driver): TenantStore {
  const { readerOf, acrossTenants } = driver
  return {
    readTenant: async (tenantId) => tenantFromRow(await readTenant(readerOf(tenantId), tenantId)),
    listTenants: async ({ after, limit }) =>
      (await listTenants(acrossTenants, { after: after ?? '', limit })).map(toTenant),
    addTenant: (tenant) =>
      inTransaction(
        { driver, tenantId: tenant.tenantId },
        async (tx) => (await addTenant(tx, rowOf(tenant))).length > 0,
      ),
    suspendTenant: ({ tenantId, suspendedAt }) =>
      inTransaction({ driver, tenantId }, async (tx) =>
        tenantFromRow(await suspendTenant(tx, tenantId, suspendedAt)),
      ),
    limitTenant: ({ tenantId, tier, limits }) => {
      const row = { tenant_id: tenantId, tier, limits: JSON.stringify(limits) }
      return inTransaction({ driver, tenantId }, async (tx) => tenantFromRow(await limitTenant(tx, row)))
    },
  }
}

function tenantFromRow(row: TenantRow | undefined): Tenant | null {
  return row === undefined ? null : toTenant(row)
}

function toTenant(row: TenantRow): Tenant {
  return {
    tenantId: row.tenant_id,
    name: row.name,
    tier: row.tier,
    limits: JSON.parse(row.limits) as Partial<Limits>, // as rowOf wrote them
    createdAt: row.created_at,
    suspendedAt: row.suspended_at,
  }
}

function rowOf(tenant: Tenant): TenantRow {
  return {
    tenant_id: tenant.tenantId,
    name: tenant.name,
    tier: tenant.tier,
    limits: JSON.stringify(tenant.limits),
    created_at: tenant.createdAt,
    suspended_at: tenant.suspendedAt,
  }
}
