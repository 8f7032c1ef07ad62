// What a task costs PostgreSQL besides time: bytes of write-ahead log, and row versions that vacuum must clear away.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../lab/postgres.ts'
import type { Figures, Scenario } from '../scenario.ts'
import { BATCH_CALLERS, BATCH_SIZE, onPostgres } from './pair.ts'

/** Sessions tell the statistics at most once a second. */
const STATISTICS_MS = 2_000

export const wal: Scenario = {
  about: 'bytes of log and dead rows of one task from creation to completion, on PostgreSQL',
  count: 20_000,
  columns: [
    { name: 'WAL', unit: 'bytes/task', better: 'less' },
    { name: 'rows written', unit: 'per task', better: 'less' },
    { name: 'dead rows', unit: 'per task', better: 'less' },
    { name: 'HOT updates', unit: '% of updates', better: 'more' },
  ],
  ratio: 'first ÷ row',
  order: 'alternating',
  rows: onPostgres({ warmUpCount: 1_000 }, async ({ producer, worker, from, database, bench: { count } }) => {
    const before = await readWritten(database)
    await producer.ask('addInBatches', { from, count, callers: BATCH_CALLERS, batchSize: BATCH_SIZE })
    await worker.ask('consume', { from, expected: count, style: 'throughput' })
    await worker.ask('consumed')
    return perTask(before, await readWritten(database), count)
  }),
}

type Written = Readonly<Record<'bytes' | 'inserted' | 'updated' | 'hot' | 'deleted', number>>

export async function readWritten(database: Database): Promise<Written> {
  await sleep(STATISTICS_MS)
  const [row] = await database.query(`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes,
           coalesce(sum(n_tup_ins), 0)::float8 as inserted,
           coalesce(sum(n_tup_upd), 0)::float8 as updated,
           coalesce(sum(n_tup_hot_upd), 0)::float8 as hot,
           coalesce(sum(n_tup_del), 0)::float8 as deleted
      from pg_stat_user_tables`)
  return row as Written
}

export function perTask(before: Written, after: Written, count: number): Figures {
  const grown = (name: keyof Written) => after[name] - before[name]
  return {
    WAL: grown('bytes') / count,
    'rows written': (grown('inserted') + grown('updated')) / count,
    'dead rows': (grown('updated') + grown('deleted')) / count,
    'HOT updates': grown('updated') === 0 ? 100 : (grown('hot') / grown('updated')) * 100,
  }
}
