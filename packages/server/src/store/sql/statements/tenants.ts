// Which tenants there are.
import { query, type Session } from '../session.ts'

export interface TenantRow {
  readonly tenant_id: string
  readonly name: string | null
  readonly created_at: number
  readonly suspended_at: number | null
}

const COLUMNS = 'tenant_id, name, created_at, suspended_at'

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
    insert into tenants (${COLUMNS}) values ($1, $2, $3, $4)
    on conflict do nothing
    returning tenant_id`,
)

/** Nothing comes back when there is one of that id. */
export function addTenant(session: Session, row: TenantRow): Promise<{ tenant_id: string }[]> {
  return session.all(ADD_TENANT, [row.tenant_id, row.name, row.created_at, row.suspended_at])
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
