// Accounts. One statement does not filter by tenant: a token says whose it is by the account alone.
import type { Role } from '@asyncgate/sdk'
import type { PrincipalKind } from '../../../engine/model.ts'
import { query, type Session, type Value } from '../session.ts'

export interface AccountRow {
  readonly tenant_id: string
  readonly account_id: string
  readonly username: string
  readonly password_hash: string | null
  readonly subject: string | null
  readonly principal_kind: PrincipalKind
  readonly principal_id: string
  readonly role: Role
  readonly created_at: number
  readonly created_by_kind: PrincipalKind
  readonly created_by_id: string
  readonly disabled_at: number | null
}

const COLUMNS = [
  ...['tenant_id', 'account_id', 'username', 'password_hash', 'subject', 'principal_kind', 'principal_id'],
  ...['role', 'created_at', 'created_by_kind', 'created_by_id', 'disabled_at'],
] as const satisfies readonly (keyof AccountRow)[]
const columns = COLUMNS.join(', ')

export type FoundAccountRow = AccountRow & { readonly tenant_suspended_at: number | null }

/** Of the relation `a`, whose tenant is `t`. */
export const FOUND_COLUMNS = [
  ...COLUMNS.map((column) => `a.${column}`),
  't.suspended_at as tenant_suspended_at',
].join(', ')

const FIND_ACCOUNT = query(
  'find_account',
  () => `
    select ${FOUND_COLUMNS} from accounts a left join tenants t on t.tenant_id = a.tenant_id
    where a.account_id = $1`,
)

export async function findAccount(session: Session, accountId: string): Promise<FoundAccountRow | undefined> {
  return (await session.all<FoundAccountRow>(FIND_ACCOUNT, [accountId]))[0]
}

const FIND_ACCOUNT_BY_NAME = query(
  'find_account_by_name',
  () => `
    select ${FOUND_COLUMNS} from accounts a left join tenants t on t.tenant_id = a.tenant_id
    where a.tenant_id = $1 and a.username = $2`,
)

export async function findAccountByName(
  session: Session,
  tenantId: string,
  username: string,
): Promise<FoundAccountRow | undefined> {
  return (await session.all<FoundAccountRow>(FIND_ACCOUNT_BY_NAME, [tenantId, username]))[0]
}

const LIST_ACCOUNTS = query(
  'list_accounts',
  () => `
    select ${columns} from accounts
    where tenant_id = $1 and account_id < $2
    order by tenant_id desc, account_id desc
    limit $3`,
)

export function listAccounts(
  session: Session,
  { tenantId, before, limit }: { tenantId: string; before: string; limit: number },
): Promise<AccountRow[]> {
  return session.all(LIST_ACCOUNTS, [tenantId, before, limit])
}

const ADD_ACCOUNT = query('add_account', () => {
  const places = COLUMNS.map((_column, index) => `$${index + 1}`).join(', ')
  return `
    insert into accounts (${columns}) values (${places})
    on conflict (tenant_id, username) do nothing
    returning account_id`
})

/** Nothing comes back when the tenant has one of that name. */
export function addAccount(session: Session, row: AccountRow): Promise<{ account_id: string }[]> {
  return session.all(
    ADD_ACCOUNT,
    COLUMNS.map((column): Value => row[column]),
  )
}

const SET_PASSWORD = query(
  'set_password',
  () => `
    update accounts set password_hash = $3 where tenant_id = $1 and account_id = $2
    returning ${columns}`,
)

export async function setPassword(
  session: Session,
  { tenantId, accountId, passwordHash }: { tenantId: string; accountId: string; passwordHash: string },
): Promise<AccountRow | undefined> {
  return (await session.all<AccountRow>(SET_PASSWORD, [tenantId, accountId, passwordHash]))[0]
}

const DISABLE_ACCOUNT = query(
  'disable_account',
  () => `
    update accounts set disabled_at = coalesce(disabled_at, $3)
    where tenant_id = $1 and account_id = $2
    returning ${columns}`,
)

const ENABLE_ACCOUNT = query(
  'enable_account',
  () => `
    update accounts set disabled_at = null where tenant_id = $1 and account_id = $2
    returning ${columns}`,
)

export async function disableAccount(
  session: Session,
  { tenantId, accountId, disabledAt }: { tenantId: string; accountId: string; disabledAt: number | null },
): Promise<AccountRow | undefined> {
  const found =
    disabledAt === null
      ? session.all<AccountRow>(ENABLE_ACCOUNT, [tenantId, accountId])
      : session.all<AccountRow>(DISABLE_ACCOUNT, [tenantId, accountId, disabledAt])
  return (await found)[0]
}
