// Relationships: when a principal was first and last seen, and in how many sessions.
import type { PrincipalKind } from '../../../engine/model.ts'
import { bulk, query, type RowOf, type Session } from '../session.ts'

/**
 * All that a batch saw of one principal: `silent` when the first sighting named no instance, so that only silence can tell a
 * new session; `instance_id` and `last_instance_id` the first and the last that were named; `more` the changes in between.
 */
const SIGHTING = {
  kind: 'text',
  id: 'text',
  seen_at: 'bigint',
  silent: 'boolean',
  instance_id: 'text',
  last_instance_id: 'text',
  more: 'int',
  silence_ms: 'bigint',
} as const

export type SightingRow = RowOf<typeof SIGHTING>

const SEE_PRINCIPALS = bulk(
  'see_principals',
  SIGHTING,
  (x) => `
    update principals as p
    set sessions_count = p.sessions_count + x.more
        + case when x.silent and x.seen_at - p.last_seen_at > x.silence_ms then 1 else 0 end
        + case when x.instance_id is not null and x.instance_id is distinct from p.instance_id then 1 else 0 end,
      instance_id = coalesce(x.last_instance_id, p.instance_id),
      last_seen_at = case when x.seen_at > p.last_seen_at then x.seen_at else p.last_seen_at end
    from ${x}
    where p.tenant_id = $1 and p.kind = x.kind and p.id = x.id`,
)

export function seePrincipals(session: Session, tenantId: string, rows: readonly SightingRow[]): Promise<never[]> {
  return session.each(SEE_PRINCIPALS, tenantId, rows)
}

const MEET_PRINCIPALS = bulk(
  'meet_principals',
  SIGHTING,
  (x) => `
    insert into principals (tenant_id, kind, id, first_seen_at, last_seen_at, sessions_count, instance_id)
    select $1, x.kind, x.id, x.seen_at, x.seen_at,
      1 + x.more + case when x.silent and x.instance_id is not null then 1 else 0 end, x.last_instance_id
    from ${x}
    where true
    on conflict do nothing`,
)

/** After `seePrincipals`: adds those that had not been seen before. */
export function meetPrincipals(session: Session, tenantId: string, rows: readonly SightingRow[]): Promise<never[]> {
  return session.each(MEET_PRINCIPALS, tenantId, rows)
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
