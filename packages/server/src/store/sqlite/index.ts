// The SQLite store: one file, one writer connection whose transactions follow each other, and a second,
// read-only one, so that reads never see an open transaction. WAL with synchronous=FULL: a commit that
// returned is on the disk.
//
// It works in the thread that asks. With the writer in a thread of its own, that thread was busy for half as long (a claim
// and completion, in batches of 32: 300 → 141 µs), but end to end on two cores, shared with the clients, no gain showed:
// one by one 932 against 982 tasks/s without it (medians of 14 runs each, from 342 to 1,656 on a busy machine), and in
// batches slower in 4 of 5 pairs. Where cores are idle it may differ.
import { GateError } from '@asyncgate/sdk'
import type { Log } from '../../log.ts'
import type { Store } from '../port.ts'
import { StoreFailure } from '../sql/failure.ts'
import { type Driver, query } from '../sql/session.ts'
import { createSqlStore } from '../sql/store.ts'
import { selectCandidates } from './claims.ts'
import { type Connection, openConnection } from './connection.ts'
import { migrate, unapplied } from './migrate.ts'
import { parkedHeads } from './parked.ts'
import { beginTransaction } from './transaction.ts'
import { createTurns, type Turns } from './turns.ts'

/** 64 MiB of pages, and a log that is folded back into the file every 16 MiB instead of every 4. */
const PRAGMAS = `
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma cache_size = -65536;
  pragma wal_autocheckpoint = 4000;
  pragma temp_store = memory;
`

/**
 * Another process may hold the write lock for the length of a commit; waiting for it stops everything else
 * here.
 */
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
    const message = `The SQLite file ${path} cannot be opened. Check that its folder exists and can be written to.`
    throw new GateError('database_unavailable', message, {}, { cause: error })
  }
}

function createDriver(writer: Connection, reader: Connection): Driver {
  const turns = createTurns()
  let closing: Promise<void> | null = null
  return {
    kind: 'sqlite',
    commitsAtOnce: 1,
    // A file has no second wall between tenants: its statements alone keep them apart.
    readerOf: () => reader,
    acrossTenants: reader,
    scanner: reader,
    begin: () => beginTransaction(writer, turns),
    // One writer at a time: nobody else counts, locks or waits meanwhile.
    holdCounts: async () => {},
    tryHoldKeys: async (_tx, _tenantId, keys) => new Set(keys),
    selectCandidates,
    parkedHeads,
    hint: () => {},
    onHint: () => () => {},
    migrate: () => migrate(writer, turns),
    pendingMigrations: async () => (await unapplied(reader)).map(({ name }) => name),
    findBreaches: async () => [],
    readClock: async () => null,
    ping: async () => void (await reader.all(PING, [])),
    durability: () => durability(writer),
    close: () => (closing ??= close(writer, reader, turns)),
  }
}

const PING = query('ping', () => 'select 1 as one')

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
