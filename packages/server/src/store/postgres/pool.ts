// Connections to PostgreSQL: how they are made, and how values come back.
import { Pool, type PoolConfig } from 'pg'
import type { Log } from '../../log.ts'

export const CONNECT_TIMEOUT_MS = 5_000
/** Long enough that a quiet minute does not cost the prepared statements. */
const IDLE_TIMEOUT_MS = 60_000
/** Beyond this a statement is not slow, its connection is gone. */
const QUERY_TIMEOUT_MS = 60_000

/**
 * A generic plan is made once, perhaps while a table is empty and a scan of it looks cheap; these keep it to
 * the indexes that every statement has. An instance that froze must not keep its locks, nor anybody wait for
 * them for ever.
 */
const SETTINGS = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_memoize: 'off',
  enable_material: 'off',
  jit: 'off',
  lock_timeout: '4s',
  idle_in_transaction_session_timeout: '30s',
}

/**
 * For transactions, whose statements have one good plan each. By itself PostgreSQL made a new one for every claim, since it
 * thinks that the limit matters: 1.2 ms of planning for 0.3 ms of work. Lists are better off with a plan for what is asked.
 */
export const PLANNED_ONCE = { plan_cache_mode: 'force_generic_plan' }

/** For notifications, which are no data: PostgreSQL would flush its log for each of them. */
export const UNFLUSHED = { synchronous_commit: 'off' }

export interface Connecting {
  readonly url: string
  readonly poolSize: number
  /**
   * Off for poolers that hand each transaction another connection: then nothing is set or kept on one either.
   */
  readonly preparedStatements: boolean
  /** Beyond those that every connection has. */
  readonly settings?: Readonly<Record<string, string>>
  readonly log?: Log
}

export function connectionConfig({ url, preparedStatements, settings }: Connecting): PoolConfig {
  const options = Object.entries({ ...SETTINGS, ...settings }).map(([name, value]) => `-c ${name}=${value}`)
  return {
    connectionString: url,
    application_name: 'asyncgate',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    ...(preparedStatements ? { options: options.join(' ') } : {}),
  }
}

export function createPool(connecting: Connecting): Pool {
  const pool = new Pool({
    ...connectionConfig(connecting),
    max: connecting.poolSize,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
  })
  // Without listeners a broken connection would end the process. The pool drops one that breaks while idle;
  // whoever is using one hears of it from the statement under way.
  pool.on('error', (error) => connecting.log?.warn({ error }, 'an idle database connection was lost'))
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
