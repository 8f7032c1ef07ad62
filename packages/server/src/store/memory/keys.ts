// API keys in memory.
import type { ApiKey, KeyStore } from '../keys.ts'
import type { TenantStore } from '../tenants.ts'

export function createMemoryKeys({ readTenant }: Pick<TenantStore, 'readTenant'>): KeyStore {
  const keys = new Map<string, ApiKey>()
  const isLive = ({ revokedAt, expiresAt }: ApiKey, now: number) =>
    revokedAt === null && (expiresAt === null || expiresAt > now)
  const keyOf = (tenantId: string, keyId: string) => {
    const key = keys.get(keyId)
    return key?.tenantId === tenantId ? key : null
  }
  return {
    findKey: async (prefix) => {
      const key = keys.values().find((one) => one.prefix === prefix)
      if (key === undefined) return null
      const tenant = await readTenant(key.tenantId)
      return { ...key, isTenantSuspended: tenant !== null && tenant.suspendedAt !== null }
    },
    readKey: async (tenantId, keyId) => keyOf(tenantId, keyId),
    listKeys: async ({ tenantId, before, limit }) =>
      [...keys.values()]
        .filter((key) => key.tenantId === tenantId && (before === null || key.keyId < before))
        .toSorted((a, b) => (a.keyId < b.keyId ? 1 : -1))
        .slice(0, limit),
    hasLiveKeys: async (now) => keys.values().some((key) => isLive(key, now)),
    addKey: async (key) => void keys.set(key.keyId, key),
    replaceKey: async ({ keyId, until, now, replacement }) => {
      const key = keyOf(replacement.tenantId, keyId)
      if (key === null || !isLive(key, now)) return false
      keys.set(keyId, { ...key, expiresAt: Math.min(key.expiresAt ?? until, until) })
      keys.set(replacement.keyId, replacement)
      return true
    },
    revokeKey: async ({ tenantId, keyId, now }) => {
      const key = keyOf(tenantId, keyId)
      if (key === null) return null
      const revoked = { ...key, revokedAt: key.revokedAt ?? now }
      keys.set(keyId, revoked)
      return revoked
    },
  }
}
