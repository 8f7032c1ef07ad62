// OAuth clients in memory.
import type { ClientStore, OAuthClient } from '../clients.ts'

export function createMemoryClients(): ClientStore {
  const clients = new Map<string, OAuthClient>()
  return {
    findClient: async (clientId) => clients.get(clientId) ?? null,
    listClients: async ({ tenantId, before, limit }) =>
      [...clients.values()]
        .filter((client) => client.tenantId === tenantId && (before === null || client.clientId < before))
        .toSorted((a, b) => (a.clientId < b.clientId ? 1 : -1))
        .slice(0, limit),
    addClient: async (client) => void clients.set(client.clientId, client),
    revokeClient: async ({ tenantId, clientId, now }) => {
      const client = clients.get(clientId)
      if (client === undefined || client.tenantId !== tenantId) return null
      const revoked = { ...client, revokedAt: client.revokedAt ?? now }
      clients.set(clientId, revoked)
      return revoked
    },
  }
}
