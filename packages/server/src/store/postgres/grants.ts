// What the role that serves may do with tables that another role owns: read and write rows, and nothing else.
import type { Client } from 'pg'
import { SHARED_TABLES, TENANT_TABLES, TENANT_VIEWS } from './migrations/index.ts'

/** Receipts are only ever added. */
const MISSING = `
  select format('grant %s on %I to %I', wanted.privilege, wanted.name, $2::text) as statement
  from (
    select name, privilege
    from unnest($1::text[]) as t(name) cross join unnest(array['select', 'insert', 'update', 'delete']) as p(privilege)
    where name <> 'ledger_segments' or privilege in ('select', 'insert')
    union all
    select name, 'select' from unnest($3::text[]) as t(name)
  ) as wanted
  where not has_table_privilege($2, wanted.name, wanted.privilege)
  union all
  select format('grant usage on schema %I to %I', current_schema(), $2::text)
  where not has_schema_privilege($2, current_schema(), 'usage')`

/** Nothing is granted twice: each grant would make every connection plan its statements anew. */
export async function grantMissing(owner: Client, role: string): Promise<void> {
  const { rows } = await owner.query<{ statement: string }>(MISSING, [
    [...TENANT_TABLES, ...SHARED_TABLES],
    role,
    [...TENANT_VIEWS, 'schema_migrations'],
  ])
  for (const { statement } of rows) await owner.query(statement)
}
