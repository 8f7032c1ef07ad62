// Tenants in SQL.
import type { Tenant, TenantStore } from '../tenants.ts'
import type { Driver } from './session.ts'
import { addTenant, listTenants, readTenant, suspendTenant, type TenantRow } from './statements/tenants.ts'
import { inTransaction } from './transact.ts'

export function createSqlTenants(driver: Driver): TenantStore {
  const { readerOf, acrossTenants } = driver
  return {
    readTenant: async (tenantId) => tenantFromRow(await readTenant(readerOf(tenantId), tenantId)),
    listTenants: async ({ after, limit }) =>
      (await listTenants(acrossTenants, { after: after ?? '', limit })).map(toTenant),
    addTenant: ({ tenantId, name, createdAt, suspendedAt }) => {
      const row = { tenant_id: tenantId, name, created_at: createdAt, suspended_at: suspendedAt }
      return inTransaction({ driver, tenantId }, async (tx) => (await addTenant(tx, row)).length > 0)
    },
    suspendTenant: ({ tenantId, suspendedAt }) =>
      inTransaction({ driver, tenantId }, async (tx) =>
        tenantFromRow(await suspendTenant(tx, tenantId, suspendedAt)),
      ),
  }
}

function tenantFromRow(row: TenantRow | undefined): Tenant | null {
  return row === undefined ? null : toTenant(row)
}

function toTenant(row: TenantRow): Tenant {
  return {
    tenantId: row.tenant_id,
    name: row.name,
    createdAt: row.created_at,
    suspendedAt: row.suspended_at,
  }
}
