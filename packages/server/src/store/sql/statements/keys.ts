// API keys. One statement does not filter by tenant: who calls, and so of which tenant, is known by the key alone.
import type { PrincipalKind } from '../../../engine/model.ts'
import type { Role } from '@asyncgate/sdk'
import { query, type Session, type Value } from '../session.ts'

export interface KeyRow {
  readonly tenant_id: string
  readonly key_id: string
  readonly prefix: string
  readonly secret_hash: string
  readonly name: string | null
  readonly principal_kind: PrincipalKind
  readonly principal_id: string
  readonly role: Role
  readonly scopes: string
  readonly created_at: number
  readonly created_by_kind: PrincipalKind
  readonly created_by_id: string
  readonly expires_at: number | null
  readonly revoked_at: number | null
}

const COLUMNS = [
  ...['tenant_id', 'key_id', 'prefix', 'secret_hash', 'name', 'principal_kind', 'principal_id', 'role'],
  ...['scopes', 'created_at', 'created_by_kind', 'created_by_id', 'expires_at', 'revoked_at'],
] as const satisfies readonly (keyof KeyRow)[]
const columns = COLUMNS.join(', ')

export type FoundKeyRow = KeyRow & { readonly tenant_suspended_at: number | null }

const FIND_KEY = query(
  'find_key',
  () => `
    select ${COLUMNS.map((column) => `k.${column}`).join(', ')}, t.suspended_at as tenant_suspended_at
    from api_keys k left join tenants t on t.tenant_id = k.tenant_id
    where k.prefix = $1`,
)

export async function findKey(session: Session, prefix: string): Promise<FoundKeyRow | undefined> {
  return (await session.all<FoundKeyRow>(FIND_KEY, [prefix]))[0]
}

const READ_KEY = query(
  'read_key',
  () => `select ${columns} from api_keys where tenant_id = $1 and key_id = $2`,
)

export async function readKey(
  session: Session,
  tenantId: string,
  keyId: string,
): Promise<KeyRow | undefined> {
  return (await session.all<KeyRow>(READ_KEY, [tenantId, keyId]))[0]
}

const LIST_KEYS = query(
  'list_keys',
  () => `
    select ${columns} from api_keys
    where tenant_id = $1 and key_id < $2
    order by tenant_id desc, key_id desc
    limit $3`,
)

export function listKeys(
  session: Session,
  { tenantId, before, limit }: { tenantId: string; before: string; limit: number },
): Promise<KeyRow[]> {
  return session.all(LIST_KEYS, [tenantId, before, limit])
}

/** Asked once, at the start of a server. */
const LIVE_KEY = query(
  'live_key',
  () => `
    select key_id from api_keys
    where revoked_at is null and (expires_at is null or expires_at > $1)
    limit 1`,
)

export function liveKey(session: Session, now: number): Promise<{ key_id: string }[]> {
  return session.all(LIVE_KEY, [now])
}

const ADD_KEY = query('add_key', () => {
  const places = COLUMNS.map((_column, index) => `$${index + 1}`).join(', ')
  return `insert into api_keys (${columns}) values (${places})`
})

export function addKey(session: Session, row: KeyRow): Promise<never[]> {
  return session.all(
    ADD_KEY,
    COLUMNS.map((column): Value => row[column]),
  )
}

const END_KEY = query(
  'end_key',
  () => `
    update api_keys
    set expires_at = case when expires_at < $3 then expires_at else $3 end
    where tenant_id = $1 and key_id = $2 and revoked_at is null and (expires_at is null or expires_at > $4)
    returning key_id`,
)

/** The key's id, if it was live. */
export function endKey(
  session: Session,
  { tenantId, keyId, until, now }: { tenantId: string; keyId: string; until: number; now: number },
): Promise<{ key_id: string }[]> {
  return session.all(END_KEY, [tenantId, keyId, until, now])
}

const REVOKE_KEY = query(
  'revoke_key',
  () => `
    update api_keys set revoked_at = coalesce(revoked_at, $3)
    where tenant_id = $1 and key_id = $2
    returning ${columns}`,
)

export async function revokeKey(
  session: Session,
  { tenantId, keyId, now }: { tenantId: string; keyId: string; now: number },
): Promise<KeyRow | undefined> {
  return (await session.all<KeyRow>(REVOKE_KEY, [tenantId, keyId, now]))[0]
}
