// What OAuth remembers, in SQL.
import type { Artifact, FoundArtifact, OAuthStore } from '../oauth.ts'
import { foundFromRow } from './accounts.ts'
import type { Driver, Transaction } from './session.ts'
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

/** What these tables hold is of no tenant, and so it is in none that it is written. */
const NOBODY = ''

export function createSqlOAuth(driver: Driver): OAuthStore {
  const { acrossTenants } = driver
  const inOwn = <T>(work: (tx: Transaction) => Promise<T>) =>
    inTransaction({ driver, tenantId: NOBODY }, work)
  return {
    putArtifact: (artifact) => inOwn(async (tx) => void (await putArtifact(tx, rowOf(artifact)))),
    findArtifact: async (key) => artifactFromRow(await findArtifact(acrossTenants, key)),
    findArtifactByUid: async (uid) => artifactFromRow(await findArtifactByUid(acrossTenants, uid)),
    consumeArtifact: (key, now) => inOwn(async (tx) => (await consumeArtifact(tx, key, now)).length > 0),
    removeArtifact: (key) => inOwn(async (tx) => void (await removeArtifact(tx, key))),
    removeGrant: (grantId) => inOwn(async (tx) => void (await removeGrant(tx, grantId))),
    pruneArtifacts: (before, limit) => inOwn(async (tx) => (await pruneArtifacts(tx, before, limit)).length),
    findGrant: async (key) => {
      const row = await findGrant(acrossTenants, key)
      if (row === undefined) return null
      return {
        clientId: row.grant_client_id,
        expiresAt: row.grant_expires_at,
        isClientRevoked: row.client_revoked_at !== null,
        account: foundFromRow(row),
      }
    },
    listSigningKeys: async () =>
      (await signingKeys(acrossTenants)).map((row) => ({
        keyId: row.key_id,
        sealed: row.sealed,
        createdAt: row.created_at,
        retiredAt: row.retired_at,
      })),
    addSigningKey: ({ keyId, sealed, createdAt, retiredAt }) =>
      inOwn(async (tx) => {
        await retireSigningKeys(tx, createdAt)
        await addSigningKey(tx, { key_id: keyId, sealed, created_at: createdAt, retired_at: retiredAt })
      }),
    pruneSigningKeys: (before) => inOwn(async (tx) => void (await pruneSigningKeys(tx, before))),
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
