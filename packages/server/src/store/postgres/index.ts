// The PostgreSQL store: any number of instances on one database. Opening it connects nowhere; the first use
// does, and every later one finds its way back by itself after an outage.
import type { Log } from '../../log.ts'
import type { Store } from '../port.ts'
import { type Driver, query, type Session } from '../sql/session.ts'
import { createSqlStore } from '../sql/store.ts'
import { createAnnouncements } from './announcements.ts'
import { findBreaches } from './breaches.ts'
import { createClaims } from './claims.ts'
import { createSessions } from './client.ts'
import { deleteQueued } from '../sql/statements/leave-shelf.ts'
import { expectHeld, takeHeld } from './held.ts'
import { createHints } from './hints.ts'
import { holdCounts, tryHoldKeys } from './locks.ts'
import { migrate, pendingMigrations } from './migrate.ts'
import { parkedHeads } from './parked.ts'
import { connectionConfig, createPool, PLANNED_ONCE, UNFLUSHED } from './pool.ts'
import { createReader, createScanner } from './reader.ts'
import { createPostgresTokens } from './tokens.ts'
import { beginTransaction, wireOnAny } from './transaction.ts'

/** The second is decided and sent while the first is being flushed; a third gained nothing on two cores. */
const COMMITS_AT_ONCE = 2

export interface PostgresOptions {
  readonly url: string
  /** As the role that owns the tables, where that is another. */
  readonly migrationUrl?: string | null
  readonly poolSize: number
  readonly preparedStatements: boolean
  readonly log?: Log
}

export async function createPostgresStore(options: PostgresOptions): Promise<Store> {
  const driver = createPostgresDriver(options)
  return { ...createSqlStore(driver), tokens: createPostgresTokens(driver) }
}

export function createPostgresDriver(options: PostgresOptions): Driver {
  const half = Math.ceil(options.poolSize / 2)
  const writing = createPool({ ...options, poolSize: half, settings: PLANNED_ONCE })
  const reading = createPool({ ...options, poolSize: Math.max(1, options.poolSize - half) })
  const sessionOn = createSessions(options)
  const toRead = { pool: reading, sessionOn }
  // For what concerns no table of tenants.
  const server = sessionOn(wireOnAny(reading))
  const hints = createHints({
    config: connectionConfig({ ...options, settings: UNFLUSHED }),
    log: options.log,
  })
  let closing: Promise<void> | null = null
  return {
    kind: 'postgres',
    commitsAtOnce: COMMITS_AT_ONCE,
    looksCost: true,
    readerOf: (tenantId) => createReader(toRead, { tenantId }),
    acrossTenants: createReader(toRead, 'every tenant'),
    scanner: createScanner(toRead),
    begin: (tenantId) =>
      beginTransaction({ pool: writing, sessionOn }, { scope: { tenantId }, readOnly: false }),
    holdCounts,
    tryHoldKeys,
    expectHeld,
    takeHeld,
    takeQueued: deleteQueued, // it holds their locks
    selectCandidates: createClaims(),
    parkedHeads,
    ...createAnnouncements(hints),
    isAlone: hints.isAlone,
    hint: hints.send,
    onHint: hints.listen,
    migrate: () => migrate(options),
    pendingMigrations: () => pendingMigrations(options),
    findBreaches: () => findBreaches(server),
    readClock: () => readClock(server),
    ping: async () => void (await server.all(PING, [])),
    durability: () => durability(server),
    close: () => (closing ??= Promise.all([hints.close(), writing.end(), reading.end()]).then(() => {})),
  }
}

const PING = query('ping', () => 'select 1 as one')

const CLOCK = query('clock', () => 'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now')

async function readClock(server: Session): Promise<number | null> {
  const [row] = await server.all<{ now: number }>(CLOCK, [])
  return row?.now ?? null
}

const DURABILITY = query(
  'durability',
  () => "select current_setting('synchronous_commit') as commits, current_setting('fsync') as fsync",
)

async function durability(server: Session): ReturnType<Store['durability']> {
  const [row] = await server.all<{ commits: string; fsync: string }>(DURABILITY, [])
  const detail = `PostgreSQL, synchronous_commit=${row?.commits}, fsync=${row?.fsync}`
  return { level: row?.commits !== 'off' && row?.fsync === 'on' ? 'full' : 'reduced', detail }
}
