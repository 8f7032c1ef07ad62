// The part of the store's port that keeps OAuth clients which an administrator has registered.
import type { Principal } from '../engine/model.ts'

export interface OAuthClient {
  readonly tenantId: string
  readonly clientId: string
  readonly name: string
  readonly redirectUris: readonly string[]
  readonly createdAt: number
  readonly createdBy: Principal
  readonly revokedAt: number | null
}

export interface ClientStore {
  /** By its id, in whichever tenant it is: who asks for authorization names nothing else. */
  findClient(clientId: string): Promise<OAuthClient | null>
  /** Newest first; `before` is the id of the last client of the page before. */
  listClients(query: {
    readonly tenantId: string
    readonly before: string | null
    readonly limit: number
  }): Promise<readonly OAuthClient[]>
  addClient(client: OAuthClient): Promise<void>
  /** The client as it is afterwards; one that was revoked before keeps its time. */
  revokeClient(change: {
    readonly tenantId: string
    readonly clientId: string
    readonly now: number
  }): Promise<OAuthClient | null>
}
