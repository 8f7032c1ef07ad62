// OAuth clients in SQL.
import type { ClientStore, OAuthClient } from '../clients.ts'
import type { Driver } from './session.ts'
import { addClient, type ClientRow, findClient, listClients, revokeClient } from './statements/clients.ts'
import { inTransaction } from './transact.ts'
import { LAST_UUID } from './uuid.ts'

export function createSqlClients(driver: Driver): ClientStore {
  const { readerOf, acrossTenants } = driver
  return {
    // Whoever asks for authorization wrote it, and a text with a zero reaches no database.
    findClient: async (clientId) =>
      clientId.includes('\0') ? null : clientFromRow(await findClient(acrossTenants, clientId)),
    listClients: async ({ tenantId, before, limit }) =>
      (await listClients(readerOf(tenantId), { tenantId, before: before ?? LAST_UUID, limit })).map(toClient),
    addClient: (client) =>
      inTransaction(
        { driver, tenantId: client.tenantId },
        async (tx) => void (await addClient(tx, rowOf(client))),
      ),
    revokeClient: (change) =>
      inTransaction({ driver, tenantId: change.tenantId }, async (tx) =>
        clientFromRow(await revokeClient(tx, change)),
      ),
  }
}

function clientFromRow(row: ClientRow | undefined): OAuthClient | null {
  return row === undefined ? null : toClient(row)
}

function toClient(row: ClientRow): OAuthClient {
  return {
    tenantId: row.tenant_id,
    clientId: row.client_id,
    name: row.name,
    redirectUris: row.redirect_uris.split(' '),
    createdAt: row.created_at,
    createdBy: { kind: row.created_by_kind, id: row.created_by_id },
    revokedAt: row.revoked_at,
  }
}

function rowOf(client: OAuthClient): ClientRow {
  return {
    tenant_id: client.tenantId,
    client_id: client.clientId,
    name: client.name,
    redirect_uris: client.redirectUris.join(' '),
    created_at: client.createdAt,
    created_by_kind: client.createdBy.kind,
    created_by_id: client.createdBy.id,
    revoked_at: client.revokedAt,
  }
}
