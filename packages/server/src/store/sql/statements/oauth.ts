// What the authorization server remembers. None of it is of one tenant: whose a code or a session is, is known by it alone.
import { query, type Session, type Value } from '../session.ts'
import { FOUND_COLUMNS, type FoundAccountRow } from './accounts.ts'

export interface ArtifactRow {
  readonly artifact_key: string
  readonly payload: string
  readonly grant_id: string | null
  readonly uid: string | null
  readonly account_id: string | null
  readonly client_id: string | null
  readonly consumed_at: number | null
  readonly expires_at: number
}

const COLUMNS = [
  ...['artifact_key', 'payload', 'grant_id', 'uid', 'account_id', 'client_id', 'consumed_at', 'expires_at'],
] as const satisfies readonly (keyof ArtifactRow)[]
const columns = COLUMNS.join(', ')

const PUT_ARTIFACT = query('put_artifact', () => {
  const places = COLUMNS.map((_column, index) => `$${index + 1}`).join(', ')
  const changed = ['payload', 'grant_id', 'uid', 'account_id', 'client_id', 'expires_at']
  return `
    insert into oauth_artifacts (${columns}) values (${places})
    on conflict (artifact_key) do update set ${changed.map((name) => `${name} = excluded.${name}`).join(', ')}`
})

export function putArtifact(session: Session, row: ArtifactRow): Promise<never[]> {
  return session.all(
    PUT_ARTIFACT,
    COLUMNS.map((column): Value => row[column]),
  )
}

const FIND_ARTIFACT = query(
  'find_artifact',
  () => `select ${columns} from oauth_artifacts where artifact_key = $1`,
)

export async function findArtifact(session: Session, key: string): Promise<ArtifactRow | undefined> {
  return (await session.all<ArtifactRow>(FIND_ARTIFACT, [key]))[0]
}

const FIND_ARTIFACT_BY_UID = query(
  'find_artifact_by_uid',
  () => `select ${columns} from oauth_artifacts where uid = $1 limit 1`,
)

export async function findArtifactByUid(session: Session, uid: string): Promise<ArtifactRow | undefined> {
  return (await session.all<ArtifactRow>(FIND_ARTIFACT_BY_UID, [uid]))[0]
}

const CONSUME_ARTIFACT = query(
  'consume_artifact',
  () => `
    update oauth_artifacts set consumed_at = $2
    where artifact_key = $1 and consumed_at is null
    returning artifact_key`,
)

/** One row for the first, none for the others: whoever waited for the row's lock looks at the condition again. */
export function consumeArtifact(
  session: Session,
  key: string,
  now: number,
): Promise<{ artifact_key: string }[]> {
  return session.all(CONSUME_ARTIFACT, [key, now])
}

const REMOVE_ARTIFACT = query('remove_artifact', () => 'delete from oauth_artifacts where artifact_key = $1')

export function removeArtifact(session: Session, key: string): Promise<never[]> {
  return session.all(REMOVE_ARTIFACT, [key])
}

const REMOVE_GRANT = query('remove_grant', () => 'delete from oauth_artifacts where grant_id = $1')

export function removeGrant(session: Session, grantId: string): Promise<never[]> {
  return session.all(REMOVE_GRANT, [grantId])
}

const REMOVE_ARTIFACTS_OF = query(
  'remove_artifacts_of',
  () => 'delete from oauth_artifacts where account_id = $1',
)

export function removeArtifactsOf(session: Session, accountId: string): Promise<never[]> {
  return session.all(REMOVE_ARTIFACTS_OF, [accountId])
}

const PRUNE_ARTIFACTS = query(
  'prune_artifacts',
  () => `
    delete from oauth_artifacts where artifact_key in (
      select artifact_key from oauth_artifacts where expires_at < $1 order by expires_at limit $2
    )
    returning artifact_key`,
)

export function pruneArtifacts(
  session: Session,
  before: number,
  limit: number,
): Promise<{ artifact_key: string }[]> {
  return session.all(PRUNE_ARTIFACTS, [before, limit])
}

export type GrantRow = FoundAccountRow & {
  readonly grant_client_id: string | null
  readonly grant_expires_at: number
  readonly client_revoked_at: number | null
}

const FIND_GRANT = query(
  'find_grant',
  () => `
    select ${FOUND_COLUMNS}, g.client_id as grant_client_id, g.expires_at as grant_expires_at,
      c.revoked_at as client_revoked_at
    from oauth_artifacts g
    join accounts a on a.account_id = g.account_id
    left join tenants t on t.tenant_id = a.tenant_id
    left join oauth_clients c on c.client_id = g.client_id
    where g.artifact_key = $1`,
)

export async function findGrant(session: Session, key: string): Promise<GrantRow | undefined> {
  return (await session.all<GrantRow>(FIND_GRANT, [key]))[0]
}

export interface SigningKeyRow {
  readonly key_id: string
  readonly sealed: string
  readonly created_at: number
  readonly retired_at: number | null
}

const SIGNING_KEYS = query(
  'signing_keys',
  () => `
    select key_id, sealed, created_at, retired_at from oauth_signing_keys
    order by created_at desc, key_id desc`,
)

export function signingKeys(session: Session): Promise<SigningKeyRow[]> {
  return session.all(SIGNING_KEYS, [])
}

const RETIRE_SIGNING_KEYS = query(
  'retire_signing_keys',
  () => 'update oauth_signing_keys set retired_at = $1 where retired_at is null',
)

export function retireSigningKeys(session: Session, now: number): Promise<never[]> {
  return session.all(RETIRE_SIGNING_KEYS, [now])
}

const ADD_SIGNING_KEY = query(
  'add_signing_key',
  () => `
    insert into oauth_signing_keys (key_id, sealed, created_at, retired_at) values ($1, $2, $3, $4)`,
)

export function addSigningKey(session: Session, row: SigningKeyRow): Promise<never[]> {
  return session.all(ADD_SIGNING_KEY, [row.key_id, row.sealed, row.created_at, row.retired_at])
}

const PRUNE_SIGNING_KEYS = query(
  'prune_signing_keys',
  () => 'delete from oauth_signing_keys where retired_at < $1',
)

export function pruneSigningKeys(session: Session, before: number): Promise<never[]> {
  return session.all(PRUNE_SIGNING_KEYS, [before])
}
