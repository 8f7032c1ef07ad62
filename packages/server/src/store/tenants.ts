// The part of the store's port that knows which tenants there are.

export interface Tenant {
  readonly tenantId: string
  readonly name: string | null
  readonly createdAt: number
  readonly suspendedAt: number | null
}

export interface TenantStore {
  readTenant(tenantId: string): Promise<Tenant | null>
  /** In the order of their ids; `after` is the last of the page before. */
  listTenants(query: { readonly after: string | null; readonly limit: number }): Promise<readonly Tenant[]>
  /** False, and nothing is changed, when there is one of that id. */
  addTenant(tenant: Tenant): Promise<boolean>
  /** `suspendedAt` null resumes; a tenant that was suspended before keeps its time. Null when there is none. */
  suspendTenant(change: {
    readonly tenantId: string
    readonly suspendedAt: number | null
  }): Promise<Tenant | null>
}
