// The second wall between tenants: policies that show a transaction the rows of the tenant that it has entered
// (scope.ts), and let it write no others, whatever its statements ask for. FORCE binds the owner of the tables too.
//
// Each setting is asked for once per statement, since it stands in a select of its own. Asked for at each row, a count
// over 20,000 rows took 9.1 ms instead of 3.1 ms (2.2 ms without policies). From creation to completion the policies cost
// a task 5 % of the database's time; other ways to write them came to the same.
//
// `coalesce` hides the comparison from the planner, so that statements find their rows by their own conditions alone. An
// index on it, or the belief that few rows pass it, made plans that read the whole tenant for each row to be changed.
//
// A migration that changes rows of such a table would see none of them: it says `no force row level security` before,
// and `force row level security` afterwards.
import type { Migration } from '../../sql/migrate.ts'

export interface TenantMigration extends Migration {
  /** Tables with a tenant that it adds, or that had no wall before. */
  readonly tables: readonly string[]
  /** Tables with a tenant that it takes away. */
  readonly drops?: readonly string[]
}

/** Every table with a column `tenant_id` is named by a migration that was made with this. */
export function walled(migration: TenantMigration): TenantMigration {
  return { ...migration, sql: [migration.sql, ...migration.tables.map(wall)].join('\n') }
}

/** Any other policy would show more. */
export const POLICIES = ['own_tenant', 'every_tenant_to_look'] as const

const wall = (table: string) => `
alter table ${table} enable row level security, force row level security;
create policy ${POLICIES[0]} on ${table}
  using (coalesce(tenant_id = (select current_setting('asyncgate.tenant', true)), false));
create policy ${POLICIES[1]} on ${table} for select
  using ((select current_setting('asyncgate.sees', true)) = 'every tenant');`
