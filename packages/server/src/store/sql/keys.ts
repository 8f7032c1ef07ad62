// API keys in SQL.
import type { Scope } from '@asyncgate/sdk'
import type { ApiKey, KeyStore } from '../keys.ts'
import type { Driver } from './session.ts'
import {
  addKey,
  endKey,
  findKey,
  type KeyRow,
  listKeys,
  liveKey,
  readKey,
  revokeKey,
} from './statements/keys.ts'
import { inTransaction } from './transact.ts'
import { isUuid, LAST_UUID } from './uuid.ts'

export function createSqlKeys(driver: Driver): KeyStore {
  const { readerOf, acrossTenants, scanner } = driver
  return {
    findKey: async (prefix) => {
      const row = await findKey(acrossTenants, prefix)
      return row === undefined ? null : { ...toKey(row), isTenantSuspended: row.tenant_suspended_at !== null }
    },
    readKey: async (tenantId, keyId) =>
      isUuid(keyId) ? keyFromRow(await readKey(readerOf(tenantId), tenantId, keyId)) : null,
    listKeys: async ({ tenantId, before, limit }) => {
      const rows = await listKeys(readerOf(tenantId), { tenantId, before: before ?? LAST_UUID, limit })
      return rows.map(toKey)
    },
    hasLiveKeys: async (now) => (await liveKey(scanner, now)).length > 0,
    addKey: (key) =>
      inTransaction({ driver, tenantId: key.tenantId }, async (tx) => void (await addKey(tx, rowOf(key)))),
    replaceKey: async ({ keyId, until, now, replacement }) => {
      const { tenantId } = replacement
      return inTransaction({ driver, tenantId }, async (tx) => {
        const [ended] = isUuid(keyId) ? await endKey(tx, { tenantId, keyId, until, now }) : []
        if (ended !== undefined) await addKey(tx, rowOf(replacement))
        return ended !== undefined
      })
    },
    revokeKey: ({ tenantId, keyId, now }) =>
      inTransaction({ driver, tenantId }, async (tx) =>
        isUuid(keyId) ? keyFromRow(await revokeKey(tx, { tenantId, keyId, now })) : null,
      ),
  }
}

function keyFromRow(row: KeyRow | undefined): ApiKey | null {
  return row === undefined ? null : toKey(row)
}

function toKey(row: KeyRow): ApiKey {
  return {
    tenantId: row.tenant_id,
    keyId: row.key_id,
    prefix: row.prefix,
    secretHash: row.secret_hash,
    name: row.name,
    principal: { kind: row.principal_kind, id: row.principal_id },
    role: row.role,
    scopes: row.scopes.split(' ').filter((scope) => scope !== '') as Scope[], // as rowOf wrote them
    createdAt: row.created_at,
    createdBy: { kind: row.created_by_kind, id: row.created_by_id },
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  }
}

function rowOf(key: ApiKey): KeyRow {
  return {
    tenant_id: key.tenantId,
    key_id: key.keyId,
    prefix: key.prefix,
    secret_hash: key.secretHash,
    name: key.name,
    principal_kind: key.principal.kind,
    principal_id: key.principal.id,
    role: key.role,
    scopes: key.scopes.join(' '),
    created_at: key.createdAt,
    created_by_kind: key.createdBy.kind,
    created_by_id: key.createdBy.id,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
  }
}
