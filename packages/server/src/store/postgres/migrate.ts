// Migrations on PostgreSQL: one transaction under a lock, so that any number of instances may start at once.
import { Client } from 'pg'
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
  return withClient(migrationUrl ?? url, async (client) => {
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
    const run = pending(MIGRATIONS, await applied(client))
    for (const migration of run) {
      await ask(client, migration.sql)
      const row = [migration.name, checksum(migration)]
      await ask(client, 'insert into schema_migrations (name, checksum) values ($1, $2)', row)
    }
    if (serving !== null && serving !== (await roleOf(client))) await grantMissing(client, serving)
    await ask(client, 'commit')
    return run.map(({ name }) => name)
  })
}

export async function pendingMigrations({ url, migrationUrl }: Roles): Promise<readonly string[]> {
  const run: Migration[] = await withClient(migrationUrl ?? url, async (client) => {
    const [table] = await ask<{ found: string | null }>(
      client,
      "select to_regclass('schema_migrations') as found",
    )
    return pending(MIGRATIONS, table?.found === null ? [] : await applied(client))
  })
  return run.map(({ name }) => name)
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
