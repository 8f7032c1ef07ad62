// Whose rows a transaction may see and change. The policies on every table with a tenant (migrations/tenant-wall.ts)
// ask for two settings. They are made here and nowhere else, and end with the transaction: the next one on the same
// connection, ours or a pooler's, may be anybody's.
import { query, type Session } from '../sql/session.ts'

/** `every tenant` is for looking only: no policy lets it write. */
export type Scope = { readonly tenantId: string } | 'every tenant'

const ENTER_TENANT = query('enter_tenant', () => "select set_config('asyncgate.tenant', $1, true)")
const LOOK_ACROSS = query('look_across', () => "select set_config('asyncgate.sees', 'every tenant', true)")

export async function setScope(session: Session, scope: Scope): Promise<void> {
  await (scope === 'every tenant'
    ? session.all(LOOK_ACROSS, [])
    : session.all(ENTER_TENANT, [scope.tenantId]))
}
