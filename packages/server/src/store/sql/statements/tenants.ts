// Which tenants there are.
import type { Tier } from '@asyncgate/sdk'
import { query, type Session } from '../session.ts'

export interface TenantRow {
  readonly tenant_id: string
  readonly name: string | null
  readonly tier: Tier
  /** JSON. */
  readonly limits: string
  readonly created_at: number
  readonly suspended_at: number | null
}

const COLUMNS = 'tenant_id, name, tier, limits, created_at, suspended_at'

const READ_TENANT = query('read_tenant', () => `select ${COLUMNS} from tenants where tenant_id = $1`)

export async function readTenant(session: Session, tenantId: string): Promise<TenantRow | undefined> {
  return (await session.all<TenantRow>(READ_TENANT, [tenantId]))[0]
}

const LIST_TENANTS = query(
  'list_tenants',
  () => `select ${COLUMNS} from tenants where tenant_id > $1 order by tenant_id limit $2`,
)

export function listTenants(
  session: Session,
  { after, limit }: { after: string; limit: number },
): Promise<TenantRow[]> {
  return session.all(LIST_TENANTS, [after, limit])
}

const ADD_TENANT = query(
  'add_tenant',
  () => `
    insert into tenants (${COLUMNS}) values ($1, $2, $3, $4, $5, $6)
    on conflict do nothing
    returning tenant_id`,
)

/** Nothing comes back when there is one of that id. */
export function addTenant(session: Session, row: TenantRow): Promise<{ tenant_id: string }[]> {
  const { tenant_id, name, tier, limits, created_at, suspended_at } = row
  return session.all(ADD_TENANT, [tenant_id, name, tier, limits, created_at, suspended_at])
}

const SUSPEND_TENANT = query(
  'suspend_tenant',
  () => `
    update tenants set suspended_at = coalesce(suspended_at, $2)
    where tenant_id = $1
    returning ${COLUMNS}`,
)

const RESUME_TENANT = query(
  'resume_tenant',
  () => `update tenants set suspended_at = null where tenant_id = $1 returning ${COLUMNS}`,
)

export async function suspendTenant(
  session: Session,
  tenantId: string,
  suspendedAt: number | null,
): Promise<TenantRow | undefined> {
  const found =
    suspendedAt === null
      ? session.all<TenantRow>(RESUME_TENANT, [tenantId])
      : session.all<TenantRow>(SUSPEND_TENANT, [tenantId, suspendedAt])
  return (await found)[0]
}

const LIMIT_TENANT = query(
  'limit_tenant',
  () => `update tenants set tier = $2, limits = $3 where tenant_id = $1 returning ${COLUMNS}`,
)

export async function limitTenant(
  session: Session,
  { tenant_id, tier, limits }: Pick<TenantRow, 'tenant_id' | 'tier' | 'limits'>,
): Promise<TenantRow | undefined> {
  return (await session.all<TenantRow>(LIMIT_TENANT, [tenant_id, tier, limits]))[0]
}
