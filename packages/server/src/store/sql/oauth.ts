// What OAuth remembers, in SQL.
import type { Artifact, FoundArtifact, OAuthStore } from '../oauth.ts'
import { foundFromRow } from './accounts.ts'
import type { Driver } from './session.ts'
import {
  addSigningKey,
  type ArtifactRow,
  consumeArtifact,
  findArtifact,
  findArtifactByUid,
  findGrant,
  pruneArtifacts,
  pruneSigningKeys,
  putArtifact,
  removeArtifact,
  removeGrant,
  retireSigningKeys,
  signingKeys,
} from './statements/oauth.ts'
import { inTransaction } from './transact.ts'

export function createSqlOAuth(driver: Driver): OAuthStore {
  const { reader } = driver
  return {
    putArtifact: (artifact) =>
      inTransaction(driver, async (tx) => void (await putArtifact(tx, rowOf(artifact)))),
    findArtifact: async (key) => artifactFromRow(await findArtifact(reader, key)),
    findArtifactByUid: async (uid) => artifactFromRow(await findArtifactByUid(reader, uid)),
    consumeArtifact: (key, now) =>
      inTransaction(driver, async (tx) => (await consumeArtifact(tx, key, now)).length > 0),
    removeArtifact: (key) => inTransaction(driver, async (tx) => void (await removeArtifact(tx, key))),
    removeGrant: (grantId) => inTransaction(driver, async (tx) => void (await removeGrant(tx, grantId))),
    pruneArtifacts: (before, limit) =>
      inTransaction(driver, async (tx) => (await pruneArtifacts(tx, before, limit)).length),
    findGrant: async (key) => {
      const row = await findGrant(reader, key)
      if (row === undefined) return null
      return {
        clientId: row.grant_client_id,
        expiresAt: row.grant_expires_at,
        isClientRevoked: row.client_revoked_at !== null,
        account: foundFromRow(row),
      }
    },
    listSigningKeys: async () =>
      (await signingKeys(reader)).map((row) => ({
        keyId: row.key_id,
        sealed: row.sealed,
        createdAt: row.created_at,
        retiredAt: row.retired_at,
      })),
    addSigningKey: ({ keyId, sealed, createdAt, retiredAt }) =>
      inTransaction(driver, async (tx) => {
        await retireSigningKeys(tx, createdAt)
        await addSigningKey(tx, { key_id: keyId, sealed, created_at: createdAt, retired_at: retiredAt })
      }),
    pruneSigningKeys: (before) =>
      inTransaction(driver, async (tx) => void (await pruneSigningKeys(tx, before))),
  }
}

function artifactFromRow(row: ArtifactRow | undefined): FoundArtifact | null {
  if (row === undefined) return null
  return {
    key: row.artifact_key,
    payload: JSON.parse(row.payload) as FoundArtifact['payload'], // as rowOf wrote it
    grantId: row.grant_id,
    uid: row.uid,
    accountId: row.account_id,
    clientId: row.client_id,
    consumedAt: row.consumed_at,
    expiresAt: row.expires_at,
  }
}

function rowOf(artifact: Artifact): ArtifactRow {
  return {
    artifact_key: artifact.key,
    payload: JSON.stringify(artifact.payload),
    grant_id: artifact.grantId,
    uid: artifact.uid,
    account_id: artifact.accountId,
    client_id: artifact.clientId,
    consumed_at: null,
    expires_at: artifact.expiresAt,
  }
}
