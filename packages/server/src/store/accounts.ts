// The part of the store's port that keeps accounts: people who sign in themselves.
import type { Role } from '@asyncgate/sdk'
import type { Principal } from '../engine/model.ts'

export interface Account {
  readonly tenantId: string
  readonly accountId: string
  /** Unique in its tenant. */
  readonly username: string
  /** Null for who signs in elsewhere alone. */
  readonly passwordHash: string | null
  /** Who it is at the OpenID provider before this server, if anybody. */
  readonly subject: string | null
  readonly principal: Principal
  readonly role: Role
  readonly createdAt: number
  readonly createdBy: Principal
  readonly disabledAt: number | null
}

/** An account with what its tenant says about it. */
export interface FoundAccount extends Account {
  readonly isTenantSuspended: boolean
}

export interface AccountStore {
  /** By its id, in whichever tenant it is: a token says whose it is before anything else is known. */
  findAccount(accountId: string): Promise<FoundAccount | null>
  findAccountByName(tenantId: string, username: string): Promise<FoundAccount | null>
  /** Newest first; `before` is the id of the last account of the page before. */
  listAccounts(query: {
    readonly tenantId: string
    readonly before: string | null
    readonly limit: number
  }): Promise<readonly Account[]>
  /** False, and nothing is changed, when the tenant has one of that name. */
  addAccount(account: Account): Promise<boolean>
  /** Also ends every grant and session of it. Null when there is none. */
  setPassword(change: {
    readonly tenantId: string
    readonly accountId: string
    readonly passwordHash: string
  }): Promise<Account | null>
  /**
   * Also ends every grant and session of it; `disabledAt` null lets it sign in again. One that was disabled before keeps its
   * time. Null when there is none.
   */
  disableAccount(change: {
    readonly tenantId: string
    readonly accountId: string
    readonly disabledAt: number | null
  }): Promise<Account | null>
}
