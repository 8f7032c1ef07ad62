// The part of the store's port that keeps API keys.
import type { Role, Scope } from '@asyncgate/sdk'
import type { Principal } from '../engine/model.ts'

export interface ApiKey {
  readonly tenantId: string
  readonly keyId: string
  /** How the key begins; unique among all tenants, since a caller's tenant is known by its key alone. */
  readonly prefix: string
  readonly secretHash: string
  readonly name: string | null
  readonly principal: Principal
  readonly role: Role
  readonly scopes: readonly Scope[]
  readonly createdAt: number
  readonly createdBy: Principal
  readonly expiresAt: number | null
  readonly revokedAt: number | null
}

/** A key with what its tenant says about it. */
export interface FoundKey extends ApiKey {
  readonly isTenantSuspended: boolean
}

export interface KeyStore {
  /** By the beginning of the key, in whichever tenant it is. */
  findKey(prefix: string): Promise<FoundKey | null>
  readKey(tenantId: string, keyId: string): Promise<ApiKey | null>
  /** Newest first; `before` is the id of the last key of the page before. */
  listKeys(query: {
    readonly tenantId: string
    readonly before: string | null
    readonly limit: number
  }): Promise<readonly ApiKey[]>
  /** Whether anybody could call with a key of any tenant. */
  hasLiveKeys(now: number): Promise<boolean>
  addKey(key: ApiKey): Promise<void>
  /**
   * Adds `replacement`, of the same tenant, and lets the key end at `until` unless it ends before, in one transaction. False,
   * and nothing is changed, when it is not live.
   */
  replaceKey(change: {
    readonly keyId: string
    readonly until: number
    readonly now: number
    readonly replacement: ApiKey
  }): Promise<boolean>
  /** The key as it is afterwards; one that was revoked before keeps its time. */
  revokeKey(change: {
    readonly tenantId: string
    readonly keyId: string
    readonly now: number
  }): Promise<ApiKey | null>
}
