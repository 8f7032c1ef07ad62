// Relationships: when a principal was first and last seen, and in how many sessions.
import type { PrincipalKind } from '../../../engine/model.ts'
import { query, type Session } from '../session.ts'

/**
 * All that a batch saw of one principal: `silent` when the first sighting named no instance, so that only
 * silence can tell a new session; `instanceId` and `lastInstanceId` the first and the last that were named;
 * `more` the changes in between.
 */
export interface Seen {
  readonly kind: PrincipalKind
  readonly id: string
  readonly seenAt: number
  readonly silent: boolean
  readonly instanceId: string | null
  readonly lastInstanceId: string | null
  readonly more: number
}

/** Without an instance id, half an hour of silence makes a new session. */
const SESSION_SILENCE_MS = 30 * 60 * 1_000

const SEE_PRINCIPAL = query(
  'see_principal',
  () => `
    update principals
    set sessions_count = sessions_count + $5
        + case when last_seen_at < $6 then 1 else 0 end
        + case when instance_id is distinct from coalesce($7, instance_id) then 1 else 0 end,
      instance_id = coalesce($8, instance_id),
      last_seen_at = case when last_seen_at < $4 then $4 else last_seen_at end
    where tenant_id = $1 and kind = $2 and id = $3`,
)

export function seePrincipal(session: Session, tenantId: string, seen: Seen): Promise<never[]> {
  const { kind, id, seenAt, silent, instanceId, lastInstanceId, more } = seen
  const silentSince = silent ? seenAt - SESSION_SILENCE_MS : 0
  return session.all(SEE_PRINCIPAL, [
    tenantId,
    kind,
    id,
    seenAt,
    more,
    silentSince,
    instanceId,
    lastInstanceId,
  ])
}

const MEET_PRINCIPAL = query(
  'meet_principal',
  () => `
    insert into principals (tenant_id, kind, id, first_seen_at, last_seen_at, sessions_count, instance_id)
    values ($1, $2, $3, $4, $4, $5, $6)
    on conflict do nothing`,
)

/** After `seePrincipal`: adds one that had not been seen before. */
export function meetPrincipal(session: Session, tenantId: string, seen: Seen): Promise<never[]> {
  const { kind, id, seenAt, silent, instanceId, lastInstanceId, more } = seen
  const sessions = 1 + more + Number(silent && instanceId !== null)
  return session.all(MEET_PRINCIPAL, [tenantId, kind, id, seenAt, sessions, lastInstanceId])
}

const RELATIONSHIP = query(
  'relationship',
  () => `
    select first_seen_at, last_seen_at, sessions_count
    from principals
    where tenant_id = $1 and kind = $2 and id = $3`,
)

export async function relationship(
  session: Session,
  tenantId: string,
  principal: { kind: PrincipalKind; id: string },
): Promise<{ first_seen_at: number; last_seen_at: number; sessions_count: number } | undefined> {
  const [row] = await session.all<{ first_seen_at: number; last_seen_at: number; sessions_count: number }>(
    RELATIONSHIP,
    [tenantId, principal.kind, principal.id],
  )
  return row
}
