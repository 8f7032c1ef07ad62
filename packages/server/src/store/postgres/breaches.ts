// What would open the wall between tenants (migrations/tenant-wall.ts): a role that no policy binds, a table that has
// lost its policies, or has one that is not ours. Each with the statements that mend it.
import type { Breach } from '../port.ts'
import { listQuery, type Session } from '../sql/session.ts'
import { TENANT_TABLES } from './migrations/index.ts'
import { POLICIES } from './migrations/tenant-wall.ts'

export async function findBreaches(session: Session): Promise<readonly Breach[]> {
  const [role, tables, policies] = await Promise.all([
    session.all<UnboundRole>(UNBOUND_ROLE, []),
    session.all<{ name: string }>(OPEN_TABLES, [array(TENANT_TABLES)]),
    session.all<{ name: string; table: string }>(FOREIGN_POLICIES, [array(TENANT_TABLES), array(POLICIES)]),
  ])
  return [
    ...role.map(roleBreach),
    ...tables.map(({ name }) => ({
      of: 'table' as const,
      problem: `Row-level security is off on the table ${name}, or does not bind its owner.`,
      remedy: `As the owner of the table: alter table ${name} enable row level security, force row level security;`,
    })),
    ...policies.map(({ name, table }) => ({
      of: 'table' as const,
      problem: `The policy ${name} on the table ${table} shows more than the rows of one tenant.`,
      remedy: `As the owner of the table: drop policy ${name} on ${table};`,
    })),
  ]
}

/** Names without braces, commas or quotes. */
const array = (names: readonly string[]) => `{${names.join(',')}}`

interface UnboundRole {
  readonly role: string
  /** The role itself, or one that it can become. */
  readonly through: string
  readonly superuser: boolean
  readonly database: string
}

// A superuser is a member of every role: of the reasons, its own comes first.
const UNBOUND_ROLE = listQuery(
  'unbound_role',
  () => `
    select quote_ident(current_user) as role, quote_ident(rolname) as through, rolsuper as superuser,
      current_database() as database
    from pg_roles
    where (rolsuper or rolbypassrls) and pg_has_role(current_user, oid, 'member')
    order by rolname <> current_user
    limit 1`,
)

function roleBreach(found: UnboundRole): Breach {
  const { role, through, superuser } = found
  const is = superuser ? 'is a superuser' : 'has BYPASSRLS'
  const who =
    role === through ? `The role ${role} ${is}` : `The role ${role} can become ${through}, which ${is}`
  return {
    of: 'role',
    problem: `${who}: row-level security does not bind it, and a mistake in the program could show one tenant the rows of another.`,
    remedy: roleRemedy(found),
  }
}

function roleRemedy({ role, through, superuser, database }: UnboundRole): string {
  if (role === through && superuser) {
    return (
      "Let the server have a role of its own. As a superuser: create role asyncgate login password '<a password>'; " +
      `then set database.url to postgres://asyncgate:<a password>@<host>/${database}, and database.migration_url to what ` +
      'database.url is now: migrations run under that role, and grant the other what it needs.'
    )
  }
  const statement = role === through ? `alter role ${role} nobypassrls` : `revoke ${through} from ${role}`
  return `As a superuser: ${statement}; Where that cannot be, let the server have a role of its own.`
}

const OPEN_TABLES = listQuery(
  'open_tables',
  () => `
    select relname as name from pg_class
    where oid in (select to_regclass(name) from unnest($1::text[]) as t(name))
      and not (relrowsecurity and relforcerowsecurity)
    order by relname`,
)

const FOREIGN_POLICIES = listQuery(
  'foreign_policies',
  () => `
    select quote_ident(polname) as name, polrelid::regclass::text as table from pg_policy
    where polrelid in (select to_regclass(name) from unnest($1::text[]) as t(name))
      and polpermissive and polname <> all ($2::text[])
    order by 2, 1`,
)
