// The part of the store's port that knows which tenants there are, and what each may have.
import type { Tier } from '@asyncgate/sdk'

/** What a tenant may have; 0 = no limit. */
export interface Limits {
  /** Calls of all of its principals together. */
  readonly callsPerHour: number
  readonly principalCallsPerHour: number
  readonly tasksPerHour: number
  /** Tasks that have not ended. */
  readonly activeTasks: number
  readonly concurrentLeases: number
  /** Of one task. */
  readonly payloadBytes: number
  readonly receiptBytes: number
}

export interface Tenant {
  readonly tenantId: string
  readonly name: string | null
  readonly tier: Tier
  /** Where they differ from those of the tier. */
  readonly limits: Partial<Limits>
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
  /** Replaces both. Null when there is no such tenant. */
  limitTenant(change: Pick<Tenant, 'tenantId' | 'tier' | 'limits'>): Promise<Tenant | null>
}
