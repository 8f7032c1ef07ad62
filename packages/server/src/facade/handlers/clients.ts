// Handlers of the OAuth clients of a tenant.
import { GateError } from '@asyncgate/sdk'
import type { Handlers } from '../handler.ts'
import { cutPage, decodeIdCursor, encodeCursor, pageLimit } from '../page.ts'
import { clientToWire } from '../view-access.ts'
import type { HandlerParts } from './parts.ts'

type ClientHandlers = Pick<Handlers, 'registerClient' | 'listClients' | 'revokeClient'>

export function clientHandlers({ store, list, clock, ids }: HandlerParts): ClientHandlers {
  return {
    registerClient: async ({ name, redirect_uris }, { caller }) => {
      const createdAt = clock.now()
      const client = {
        tenantId: caller.tenantId,
        clientId: ids.next(createdAt),
        name,
        redirectUris: [...new Set(redirect_uris)],
        createdAt,
        createdBy: caller.principal,
        revokedAt: null,
      }
      await store.addClient(client)
      return clientToWire(client)
    },
    listClients: async (input, { caller }) => {
      const limit = pageLimit(input.limit, list)
      const before = decodeIdCursor('clients', input.cursor)
      const rows = await store.listClients({ tenantId: caller.tenantId, before, limit: limit + 1 })
      const { page, next } = cutPage(rows, limit, {
        cursorOf: (last) => encodeCursor('clients', last.clientId),
      })
      return { clients: page.map(clientToWire), next_cursor: next }
    },
    revokeClient: async ({ client_id: clientId }, { caller: { tenantId } }) => {
      const client = await store.revokeClient({ tenantId, clientId, now: clock.now() })
      if (client === null)
        throw new GateError('not_found', `No client ${clientId}. Check the id, or list the clients.`)
      return clientToWire(client)
    },
  }
}
