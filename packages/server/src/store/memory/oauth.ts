// What OAuth remembers, in memory.
import type { AccountStore } from '../accounts.ts'
import type { ClientStore } from '../clients.ts'
import type { FoundArtifact, OAuthStore, SigningKey } from '../oauth.ts'

export type Artifacts = Map<string, FoundArtifact>

export function removeWhere(artifacts: Artifacts, isGone: (artifact: FoundArtifact) => boolean): number {
  const gone = [...artifacts.values()].filter(isGone)
  for (const { key } of gone) artifacts.delete(key)
  return gone.length
}

interface Parts {
  readonly artifacts: Artifacts
  readonly accounts: AccountStore
  readonly clients: ClientStore
}

export function createMemoryOAuth({ artifacts, accounts, clients }: Parts): OAuthStore {
  let signingKeys: SigningKey[] = []
  return {
    putArtifact: async (artifact) => {
      const payload = structuredClone(artifact.payload)
      const consumedAt = artifacts.get(artifact.key)?.consumedAt ?? null
      artifacts.set(artifact.key, { ...artifact, payload, consumedAt })
    },
    findArtifact: async (key) => structuredClone(artifacts.get(key)) ?? null,
    findArtifactByUid: async (uid) =>
      structuredClone(artifacts.values().find((artifact) => artifact.uid === uid)) ?? null,
    consumeArtifact: async (key, now) => {
      const artifact = artifacts.get(key)
      if (artifact === undefined || artifact.consumedAt !== null) return false
      artifacts.set(key, { ...artifact, consumedAt: now })
      return true
    },
    removeArtifact: async (key) => void artifacts.delete(key),
    removeGrant: async (grantId) => void removeWhere(artifacts, (artifact) => artifact.grantId === grantId),
    pruneArtifacts: async (before, limit) => {
      const old = [...artifacts.values()].filter(({ expiresAt }) => expiresAt < before)
      const gone = new Set(old.toSorted((a, b) => a.expiresAt - b.expiresAt).slice(0, limit))
      return removeWhere(artifacts, (artifact) => gone.has(artifact))
    },
    findGrant: async (key) => {
      const grant = artifacts.get(key)
      if (grant === undefined || grant.accountId === null) return null
      const { clientId, expiresAt } = grant
      const account = await accounts.findAccount(grant.accountId)
      const client = clientId === null ? null : await clients.findClient(clientId)
      const isClientRevoked = client !== null && client.revokedAt !== null
      return account && { clientId, expiresAt, isClientRevoked, account }
    },
    listSigningKeys: async () => signingKeys.toReversed(),
    addSigningKey: async (key) => {
      const retiredAt = key.createdAt
      signingKeys = [...signingKeys.map((one) => ({ ...one, retiredAt: one.retiredAt ?? retiredAt })), key]
    },
    pruneSigningKeys: async (before) => {
      signingKeys = signingKeys.filter(({ retiredAt }) => retiredAt === null || retiredAt >= before)
    },
  }
}
