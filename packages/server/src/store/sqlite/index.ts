// The SQLite store: one file, one writer connection whose transactions follow each other, and a second,
// read-only one, so that reads never see an open transaction. WAL, flushed before anybody is answered: see flusher.ts.
//
// It works in the thread that asks. With the writer in a thread of its own, each of the two is busy for about half as long, but
// mostly one waits for the other: a claim is decided between what it reads and what it writes. Against no such thread, in
// batches of a thousand between 1 % fewer and 20 % more tasks a second in four pairs, one by one 8 and 22 % fewer in two, and
// 0.3 ms more from creation to handler, on two cores shared with the clients.
import { GateError } from '@asyncgate/sdk'
import type { Log } from '../../log.ts'
import type { Store } from '../port.ts'
import { type Driver, type Query, query, type Session, type Value } from '../sql/session.ts'
import { createSqlStore } from '../sql/store.ts'
import { createCheckpointer } from './checkpointer.ts'
import { type Checkpoints, createCheckpoints, LOG_PAGES_MAX } from './checkpoints.ts'
import { selectCandidates } from './claims.ts'
import { type Connection, openConnection } from './connection.ts'
import { expectHeld, takeHeld } from './held.ts'
import { createFlusher, createLogFile, type Flusher } from './flusher.ts'
import { migrate, unapplied } from './migrate.ts'
import { parkedHeads } from './parked.ts'
import { beginTransaction } from './transaction.ts'
import { createTurns, type Turns } from './turns.ts'

/**
 * No more than 8 MiB of pages are kept here: SQLite goes through all of them at each commit that has rearranged a tree, which
 * with 64 MiB was a sixteenth of this process's time. What is not kept is read again from the system's own memory.
 */
const PRAGMAS = `
  pragma journal_mode = wal;
  pragma synchronous = normal;
  pragma cache_size = -8000;
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
  /** How long the log may get before it is written back. */
  readonly logPagesMax?: number
}

export async function createSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path, busyTimeoutMs = BUSY_TIMEOUT_MS } = options
  try {
    const writer = openConnection(path, { readOnly: false, busyTimeoutMs })
    writer.exec(PRAGMAS)
    const reader = openConnection(path, { readOnly: true, busyTimeoutMs })
    return createSqlStore(createDriver(writer, reader, options))
  } catch (error) {
    const message = `The SQLite file ${path} cannot be opened. Check that its folder exists and can be written to.`
    throw new GateError('database_unavailable', message, {}, { cause: error })
  }
}

function createDriver(writer: Connection, reader: Connection, options: SqliteOptions): Driver {
  const turns = createTurns()
  const checkpoints = checkpointsOf(writer, turns, options)
  const log = createLogFile(`${writer.path}-wal`)
  const flusher = createFlusher({ version: reader.version, flush: log.flush })
  const writing = { writer, turns, flusher, checkpoints }
  const durableReader = readingFromDisk(reader, flusher)
  let closing: Promise<void> | null = null
  return {
    kind: 'sqlite',
    // One is carried out while the log of the other is being flushed.
    commitsAtOnce: 2,
    // A file has no second wall between tenants: its statements alone keep them apart.
    readerOf: () => durableReader,
    acrossTenants: durableReader,
    scanner: durableReader,
    begin: () => beginTransaction(writing),
    // One writer at a time: nobody else counts, locks or waits meanwhile.
    holdCounts: async () => {},
    tryHoldKeys: async (_tx, _tenantId, keys) => new Set(keys),
    announce: async () => {},
    awaitAnnounced: async () => {},
    expectHeld,
    takeHeld,
    selectCandidates,
    parkedHeads,
    isAlone: () => false, // other processes may use the file, and say nothing
    hint: () => {},
    onHint: () => () => {},
    migrate: () => migrate(writing),
    pendingMigrations: async () => (await unapplied(reader)).map(({ name }) => name),
    findBreaches: async () => [],
    readClock: async () => null,
    ping: async () => void (await durableReader.all(PING, [])),
    durability: async () => ({ level: 'full', detail: 'SQLite, WAL, flushed before each answer' }),
    close: () => (closing ??= close()),
  }

  async function close(): Promise<void> {
    await checkpoints.close()
    await turns.take()
    await flusher.flushed().catch(() => {}) // whoever waited for it was told
    await log.close()
    reader.close()
    writer.close()
  }
}

/** Until SQLite can say how long its log is (3.51), and when the thread has failed, SQLite writes it back by itself, in a commit. */
function checkpointsOf(writer: Connection, turns: Turns, options: SqliteOptions): Checkpoints {
  const { logLength } = writer
  const { log, logPagesMax: pagesMax = LOG_PAGES_MAX } = options
  const writeBackInCommits = (pages: number) => writer.exec(`pragma wal_autocheckpoint = ${pages}`)
  if (logLength === null) {
    writeBackInCommits(pagesMax)
    return { committed: () => {}, close: async () => {} }
  }
  writeBackInCommits(0)
  const onTrouble = (error: unknown) => {
    writeBackInCommits(pagesMax)
    log?.warn({ error }, 'the log of the SQLite file is written back in commits: the thread for it failed')
  }
  return createCheckpoints({
    logLength,
    pagesMax,
    checkpointer: createCheckpointer(writer.path),
    turns,
    onTrouble,
  })
}

/** What was found is told once it is on the disk: before that a loss of power could still undo it. */
function readingFromDisk(reader: Connection, { flushed }: Flusher): Session {
  return {
    all: async <R>(query: Query, params: readonly Value[]) => {
      const rows = await reader.all<R>(query, params)
      await flushed()
      return rows
    },
    each: async (bulk, tenantId, rows) => {
      const found = await reader.each(bulk, tenantId, rows)
      await flushed()
      return found as never[] // as above
    },
  }
}

const PING = query('ping', () => 'select 1 as one')
