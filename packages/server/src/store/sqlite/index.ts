// The SQLite store: one file, one writer connection whose transactions follow each other, and a second,
// read-only one, so that reads never see an open transaction. WAL, flushed before anybody is answered: see flusher.ts.
//
// It works in the thread that asks, but for large commits, which another one writes (optimistic.ts). With all of them there, each
// of the two mostly waited for the other: one by one that was 8 and 22 % fewer tasks a second in two pairs, and 0.3 ms more from
// creation to handler, on two cores shared with the clients.
import { GateError } from '@asyncgate/sdk'
import type { Log } from '../../log.ts'
import type { Store } from '../port.ts'
import {
  type Driver,
  type Outlook,
  type Query,
  query,
  type Session,
  type Transaction,
  type Value,
} from '../sql/session.ts'
import { createSqlStore } from '../sql/store.ts'
import { createCheckpointer } from './checkpointer.ts'
import { type Checkpoints, createCheckpoints, LOG_PAGES_MAX } from './checkpoints.ts'
import { selectCandidates } from './claims.ts'
import { type Connection, openConnection } from './connection.ts'
import { expectHeld, takeHeld } from './held.ts'
import { createFlusher, createLogFile, type Flusher } from './flusher.ts'
import { migrate, unapplied } from './migrate.ts'
import { beginOptimistic, type Underway, type WritingBeside } from './optimistic.ts'
import { parkedHeads } from './parked.ts'
import { PRAGMAS } from './pragmas.ts'
import { selectUntaken, takeQueued } from './queued.ts'
import { createSecondWriter, type SecondWriter } from './second-writer.ts'
import { beginTransaction } from './transaction.ts'
import { createTurns, type Turns } from './turns.ts'

/**
 * Another process may hold the write lock for the length of a commit; waiting for it stops everything else
 * here.
 */
const BUSY_TIMEOUT_MS = 1_000

/** From so many commands on a commit is worth the way to another thread and back. */
const LARGE_FROM = 100

export interface SqliteOptions {
  readonly path: string
  readonly log?: Log
  readonly busyTimeoutMs?: number
  /** How long the log may get before it is written back. */
  readonly logPagesMax?: number
  /** How many commands make a commit large. */
  readonly largeFrom?: number
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
  const second = createSecondWriter({
    path: writer.path,
    busyTimeoutMs: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS,
    onTrouble: (error) =>
      options.log?.warn(
        { error },
        'large commits go to the SQLite file like small ones: the thread for them failed',
      ),
  })
  const checkpoints = checkpointsOf({ writer, turns, second }, options)
  const log = createLogFile(`${writer.path}-wal`)
  const flusher = createFlusher({ version: reader.version, flush: log.flush })
  const underway: Underway = { taken: new Set(), largeCommits: 0 }
  const writing = { writer, turns, flusher, checkpoints, second, underway }
  const durableReader = readingFromDisk(reader, flusher)
  let closing: Promise<void> | null = null
  return {
    kind: 'sqlite',
    // One is carried out while the log of the other is being flushed.
    commitsAtOnce: 2,
    looksCost: false,
    // A file has no second wall between tenants: its statements alone keep them apart.
    readerOf: () => durableReader,
    acrossTenants: durableReader,
    scanner: durableReader,
    begin: (_tenantId, outlook) => begin(writing, options, outlook),
    // One writer at a time: nobody else counts, locks or waits meanwhile.
    holdCounts: async () => {},
    tryHoldKeys: async (_tx, _tenantId, keys) => new Set(keys),
    announce: async () => {},
    awaitAnnounced: async () => {},
    expectHeld,
    takeHeld,
    takeQueued,
    selectCandidates: (tx, tenantId, claim) =>
      selectUntaken(underway.taken, claim, (wider) => selectCandidates(tx, tenantId, wider)),
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
    const done = await turns.take()
    await flusher.flushed().catch(() => {}) // whoever waited for it was told
    await log.close()
    await second.close()
    reader.close()
    writer.close()
    done() // whoever begins now hears that it is closed
  }
}

function begin(
  writing: WritingBeside,
  { largeFrom = LARGE_FROM }: SqliteOptions,
  outlook: Outlook | undefined,
): Promise<Transaction> {
  const { second, underway } = writing
  const isLarge = outlook !== undefined && outlook.commands >= largeFrom
  // Behind large ones, small ones go the same way: else they would have to wait until those are written.
  const isForSecond =
    second.isThere() && (isLarge || underway.largeCommits > 0) && outlook?.locksNothing === true
  return isForSecond ? beginOptimistic(writing, isLarge) : beginTransaction(writing)
}

/** Until SQLite can say how long its log is (3.51), and when the thread has failed, SQLite writes it back by itself, in a commit. */
function checkpointsOf(
  { writer, turns, second }: { writer: Connection; turns: Turns; second: SecondWriter },
  options: SqliteOptions,
): Checkpoints {
  const { logLength } = writer
  const { log, logPagesMax: pagesMax = LOG_PAGES_MAX } = options
  const writeBackInCommits = () => {
    second.dismiss() // its commits would not
    writer.exec(`pragma wal_autocheckpoint = ${pagesMax}`)
  }
  if (logLength === null) {
    writeBackInCommits()
    return { committed: () => {}, close: async () => {} }
  }
  writer.exec('pragma wal_autocheckpoint = 0')
  const onTrouble = (error: unknown) => {
    writeBackInCommits()
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
