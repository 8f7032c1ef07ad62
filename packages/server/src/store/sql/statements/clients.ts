// OAuth clients. One statement does not filter by tenant: who asks for authorization names the client alone.
import type { PrincipalKind } from '../../../engine/model.ts'
import { query, type Session, type Value } from '../session.ts'

export interface ClientRow {
  readonly tenant_id: string
  readonly client_id: string
  readonly name: string
  readonly redirect_uris: string
  readonly created_at: number
  readonly created_by_kind: PrincipalKind
  readonly created_by_id: string
  readonly revoked_at: number | null
}

const COLUMNS = [
  ...['tenant_id', 'client_id', 'name', 'redirect_uris', 'created_at', 'created_by_kind'],
  ...['created_by_id', 'revoked_at'],
] as const satisfies readonly (keyof ClientRow)[]
const columns = COLUMNS.join(', ')

const FIND_CLIENT = query('find_client', () => `select ${columns} from oauth_clients where client_id = $1`)

export async function findClient(session: Session, clientId: string): Promise<ClientRow | undefined> {
  return (await session.all<ClientRow>(FIND_CLIENT, [clientId]))[0]
}

const LIST_CLIENTS = query(
  'list_clients',
  () => `
    select ${columns} from oauth_clients
    where tenant_id = $1 and client_id < $2
    order by tenant_id desc, client_id desc
    limit $3`,
)

export function listClients(
  session: Session,
  { tenantId, before, limit }: { tenantId: string; before: string; limit: number },
): Promise<ClientRow[]> {
  return session.all(LIST_CLIENTS, [tenantId, before, limit])
}

const ADD_CLIENT = query('add_client', () => {
  const places = COLUMNS.map((_column, index) => `$${index + 1}`).join(', ')
  return `insert into oauth_clients (${columns}) values (${places})`
})

export function addClient(session: Session, row: ClientRow): Promise<never[]> {
  return session.all(
    ADD_CLIENT,
    COLUMNS.map((column): Value => row[column]),
  )
}

const REVOKE_CLIENT = query(
  'revoke_client',
  () => `
    update oauth_clients set revoked_at = coalesce(revoked_at, $3)
    where tenant_id = $1 and client_id = $2
    returning ${columns}`,
)

export async function revokeClient(
  session: Session,
  { tenantId, clientId, now }: { tenantId: string; clientId: string; now: number },
): Promise<ClientRow | undefined> {
  return (await session.all<ClientRow>(REVOKE_CLIENT, [tenantId, clientId, now]))[0]
}
