// The part of the store's port that OAuth works with: what the authorization server remembers (grants, codes, refresh tokens,
// sessions, interactions), and the keys that it signs with. Nothing here is of one tenant: whose a code is, is known by the code.
import type { FoundAccount } from './accounts.ts'

export interface Artifact {
  /** Made from its kind and id; the id itself is what its holder keeps, and is kept nowhere else. */
  readonly key: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly grantId: string | null
  /** A second name, of sessions. */
  readonly uid: string | null
  readonly accountId: string | null
  readonly clientId: string | null
  readonly expiresAt: number
}

export interface FoundArtifact extends Artifact {
  readonly consumedAt: number | null
}

/** A grant with what must hold for its tokens to be good. */
export interface FoundGrant {
  readonly clientId: string | null
  readonly expiresAt: number
  readonly isClientRevoked: boolean
  readonly account: FoundAccount
}

export interface SigningKey {
  readonly keyId: string
  /** The private key, sealed. */
  readonly sealed: string
  readonly createdAt: number
  /** Since when another one signs. */
  readonly retiredAt: number | null
}

export interface OAuthStore {
  /** Adds it, or replaces one of that key; what was consumed stays so. */
  putArtifact(artifact: Artifact): Promise<void>
  findArtifact(key: string): Promise<FoundArtifact | null>
  findArtifactByUid(uid: string): Promise<FoundArtifact | null>
  /** True once: for whoever is first, among all instances. */
  consumeArtifact(key: string, now: number): Promise<boolean>
  removeArtifact(key: string): Promise<void>
  /** The grant, and all that was given out by it. */
  removeGrant(grantId: string): Promise<void>
  /** Removes at most `limit` artifacts that ended before that time; how many they were. */
  pruneArtifacts(before: number, limit: number): Promise<number>
  /** By the key of the grant's artifact. */
  findGrant(key: string): Promise<FoundGrant | null>
  /** Newest first. */
  listSigningKeys(): Promise<readonly SigningKey[]>
  /** The others retire, in the same transaction. */
  addSigningKey(key: SigningKey): Promise<void>
  /** Keys that retired before that time are gone. */
  pruneSigningKeys(before: number): Promise<void>
}
