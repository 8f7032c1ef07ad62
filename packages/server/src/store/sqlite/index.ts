// The SQLite store: one file, one writer connection whose transactions follow each other, and a second, read-only one, so
// that reads never see an open transaction. WAL with synchronous=FULL: a commit that returned is on the disk.
import type { Log } from '../../log.ts'
import type { Store } from '../port.ts'
import { StoreFailure, toCaller } from '../sql/failure.ts'
import { type Applied, checksum, type Migration, pending } from '../sql/migrate.ts'
import { type Driver, query, type Transaction } from '../sql/session.ts'
import { createSqlStore } from '../sql/store.ts'
import { selectCandidates } from './claims.ts'
import { type Connection, openConnection } from './connection.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { parkedHeads } from './parked.ts'
import { createTurns, type Turns } from './turns.ts'

/** 64 MiB of pages, and a log that is folded back into the file every 16 MiB instead of every 4. */
const PRAGMAS = `
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma cache_size = -65536;
  pragma wal_autocheckpoint = 4000;
  pragma temp_store = memory;
`

/** Another process may hold the write lock for the length of a commit; waiting for it stops everything else here. */
const BUSY_TIMEOUT_MS = 1_000

export interface SqliteOptions {
  readonly path: string
  readonly log?: Log
  readonly busyTimeoutMs?: number
}

export async function createSqliteStore({
  path,
  busyTimeoutMs = BUSY_TIMEOUT_MS,
}: SqliteOptions): Promise<Store> {
  try {
    const writer = openConnection(path, { readOnly: false, busyTimeoutMs })
    writer.exec(PRAGMAS)
    const reader = openConnection(path, { readOnly: true, busyTimeoutMs })
    return createSqlStore(createDriver(writer, reader))
  } catch (error) {
    throw toCaller(error)
  }
}

function createDriver(writer: Connection, reader: Connection): Driver {
  const turns = createTurns()
  let closing: Promise<void> | null = null
  return {
    kind: 'sqlite',
    reader,
    scanner: reader,
    begin: () => begin(writer, turns),
    // One writer at a time: nobody else counts, locks or waits meanwhile.
    holdCounts: async () => {},
    tryHoldKeys: async (_tx, _tenantId, keys) => new Set(keys),
    selectCandidates,
    parkedHeads,
    hint: () => {},
    onHint: () => () => {},
    migrate: () => migrate(writer, turns),
    pendingMigrations: async () => (await unapplied(reader)).map(({ name }) => name),
    ping: async () => void (await reader.all(PING, [])),
    durability: () => durability(writer),
    close: () => (closing ??= close(writer, reader, turns)),
  }
}

const PING = query('ping', () => 'select 1 as one')

async function begin(writer: Connection, turns: Turns): Promise<Transaction> {
  const done = await turns.take()
  try {
    writer.exec('begin immediate')
  } catch (error) {
    done()
    throw error
  }
  let open = true
  const end = (statement: 'commit' | 'rollback') => {
    writer.exec(statement)
    open = false
    done()
  }
  return {
    all: writer.all,
    each: writer.each,
    commit: async (written) => {
      await written
      end('commit')
    },
    rollback: async () => {
      if (!open) return
      try {
        end('rollback')
      } catch {
        // SQLite has rolled back by itself: there is nothing left to undo.
        open = false
        done()
      }
    },
  }
}

const APPLIED = query(
  'applied_migrations',
  () => 'select name, checksum from schema_migrations order by name',
)
const MIGRATIONS_TABLE = query(
  'migrations_table',
  () => "select name from sqlite_schema where type = 'table' and name = 'schema_migrations'",
)

async function unapplied(connection: Connection): Promise<Migration[]> {
  const [table] = await connection.all(MIGRATIONS_TABLE, [])
  return pending(MIGRATIONS, table === undefined ? [] : await connection.all<Applied>(APPLIED, []))
}

const RECORD = query(
  'record_migration',
  () => 'insert into schema_migrations (name, checksum) values ($1, $2)',
)

async function migrate(writer: Connection, turns: Turns): Promise<readonly string[]> {
  const tx = await begin(writer, turns)
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

const SYNCHRONOUS = query('synchronous', () => 'pragma synchronous')
const FULL = 2

async function durability(writer: Connection): ReturnType<Store['durability']> {
  const [row] = await writer.all<{ synchronous: number }>(SYNCHRONOUS, [])
  if (row === undefined) throw new StoreFailure('defect', new Error('pragma synchronous answered nothing'))
  const detail = `SQLite, WAL, synchronous=${row.synchronous}`
  return { level: row.synchronous >= FULL ? 'full' : 'reduced', detail }
}

async function close(writer: Connection, reader: Connection, turns: Turns): Promise<void> {
  await turns.take()
  reader.close()
  writer.close()
}
