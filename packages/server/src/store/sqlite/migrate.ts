// Migrations on SQLite: one transaction that no other process can write beside.
import { type Applied, checksum, type Migration, pending } from '../sql/migrate.ts'
import { query } from '../sql/session.ts'
import type { Connection } from './connection.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { beginTransaction, type Writing } from './transaction.ts'

const APPLIED = query(
  'applied_migrations',
  () => 'select name, checksum from schema_migrations order by name',
)
const MIGRATIONS_TABLE = query(
  'migrations_table',
  () => "select name from sqlite_schema where type = 'table' and name = 'schema_migrations'",
)

export async function unapplied(connection: Connection): Promise<Migration[]> {
  const [table] = await connection.all(MIGRATIONS_TABLE, [])
  return pending(MIGRATIONS, table === undefined ? [] : await connection.all<Applied>(APPLIED, []))
}

const RECORD = query(
  'record_migration',
  () => 'insert into schema_migrations (name, checksum) values ($1, $2)',
)

export async function migrate(writing: Writing): Promise<readonly string[]> {
  const { writer } = writing
  const tx = await beginTransaction(writing)
  try {
    writer.exec(`
      create table if not exists schema_migrations (
        name text not null primary key,
        checksum text not null,
        applied_at text not null default current_timestamp
      )`)
    const run = await unapplied(writer)
    for (const migration of run) {
      writer.exec(migration.sql)
      await writer.all(RECORD, [migration.name, checksum(migration)])
    }
    await tx.commit(Promise.resolve())
    return run.map(({ name }) => name)
  } catch (error) {
    await tx.rollback()
    throw error
  }
}
