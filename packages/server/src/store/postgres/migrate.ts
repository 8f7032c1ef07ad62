// Migrations on PostgreSQL: one transaction under a lock, so that any number of instances may start at once.
import { Client, DatabaseError } from 'pg'
import { ConfigError } from '../../config.ts'
import { type Applied, checksum, type Migration, pending } from '../sql/migrate.ts'
import { toFailure } from './failure.ts'
import { grantMissing } from './grants.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { CONNECT_TIMEOUT_MS } from './pool.ts'

/** Any number, but always the same one. */
const MIGRATION_LOCK = 4_180_226_001

export interface Roles {
  /** As the role that serves. */
  readonly url: string
  /** As the role that owns the tables, where that is another. */
  readonly migrationUrl?: string | null
}

export async function migrate({ url, migrationUrl }: Roles): Promise<readonly string[]> {
  const serving = migrationUrl ? await withClient(url, roleOf) : null
  return withClient(migrationUrl ?? url, (client) =>
    bringUpToDate(client, serving).catch((error: unknown) => refused(client, error)),
  )
}

async function bringUpToDate(client: Client, serving: string | null): Promise<readonly string[]> {
  // A role that may only read and write rows can start a server on a schema that is current.
  if (serving === null && (await unapplied(client)).length === 0) return []
  await ask(client, 'begin')
  await ask(client, 'select pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
  await ask(
    client,
    `create table if not exists schema_migrations (
        name text not null primary key,
        checksum text not null,
        applied_at timestamptz not null default now()
      )`,
  )
  const missing = pending(MIGRATIONS, await applied(client))
  for (const migration of missing) {
    await ask(client, migration.sql)
    const row = [migration.name, checksum(migration)]
    await ask(client, 'insert into schema_migrations (name, checksum) values ($1, $2)', row)
  }
  if (serving !== null && serving !== (await roleOf(client))) await grantMissing(client, serving)
  await ask(client, 'commit')
  return missing.map(({ name }) => name)
}

const NOT_ALLOWED = '42501'

async function refused(client: Client, error: unknown): Promise<never> {
  if (!(error instanceof DatabaseError) || error.code !== NOT_ALLOWED) throw error
  await ask(client, 'rollback')
  const role = await roleOf(client)
  const message =
    `The role ${role} may not bring the schema to this version (${error.message}). Let it own the database, with ` +
    `"alter database ${client.database} owner to ${role};" as a superuser, or set database.migration_url to the role that owns the tables.`
  throw new ConfigError([{ where: 'database.migration_url', message }])
}

export async function pendingMigrations({ url, migrationUrl }: Roles): Promise<readonly string[]> {
  const missing = await withClient(migrationUrl ?? url, unapplied)
  return missing.map(({ name }) => name)
}

async function unapplied(client: Client): Promise<Migration[]> {
  const [table] = await ask<{ found: string | null }>(
    client,
    "select to_regclass('schema_migrations') as found",
  )
  return pending(MIGRATIONS, table?.found === null ? [] : await applied(client))
}

async function roleOf(client: Client): Promise<string> {
  const [row] = await ask<{ role: string }>(client, 'select current_user as role')
  return row!.role
}

function applied(client: Client): Promise<Applied[]> {
  return ask(client, 'select name, checksum from schema_migrations order by name')
}

/** What the server refuses is for the operator to read, in its own words. */
async function ask<R>(client: Client, text: string, values?: unknown[]): Promise<R[]> {
  try {
    const { rows } = await client.query(text, values)
    return rows as R[] // the statement's author knows its columns
  } catch (error) {
    const failure = toFailure(error)
    throw failure.kind === 'unavailable' ? failure : error
  }
}

/** A connection of its own: a migration may take longer than any statement of the service. */
async function withClient<T>(url: string, run: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    connectionString: url,
    application_name: 'asyncgate migrate',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  // Without a listener a lost connection would end the process; the statement under way rejects anyhow.
  client.on('error', () => {})
  try {
    await client.connect().catch((error: unknown) => Promise.reject(toFailure(error)))
    return await run(client)
  } finally {
    await client.end().catch(() => {})
  }
}
