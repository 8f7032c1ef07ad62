// Where PostgreSQL spent its time on us: its own statistics of statements, kept with a profile.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from './postgres.ts'

/** Planning is counted too: a plan that is made anew each time costs more than it saves. */
export const STATEMENT_SETTINGS = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track_planning': 'on',
} as const

export const CREATE_STATISTICS = 'create extension if not exists pg_stat_statements'

const ROWS_MAX = 25

interface Statement {
  readonly share: number
  readonly calls: number
  readonly ms: number
  readonly rows: number
  readonly wal: number
  readonly text: string
}

export async function keepStatements(database: Database, folder: string): Promise<void> {
  const rows = (await database.query(`
    select (100 * (total_exec_time + total_plan_time) / sum(total_exec_time + total_plan_time) over ())::float8 as share,
           calls::float8 as calls,
           ((total_exec_time + total_plan_time) / calls)::float8 as ms,
           (rows / calls)::float8 as rows,
           (wal_bytes / calls)::float8 as wal,
           left(regexp_replace(query, '\\s+', ' ', 'g'), 110) as text
      from pg_stat_statements
     where calls > 0 and dbid = (select oid from pg_database where datname = current_database())
     order by share desc
     limit ${ROWS_MAX}`)) as unknown as Statement[]
  const lines = rows.map(({ share, calls, ms, rows: count, wal, text }) =>
    [
      `${share.toFixed(1).padStart(6)} %`,
      `${calls} ×`.padStart(9),
      `${ms.toFixed(3)} ms`.padStart(12),
      `${count.toFixed(0)} rows`.padStart(10),
      `${wal.toFixed(0)} B WAL`.padStart(14),
      ` ${text}`,
    ].join(' '),
  )
  const name = database.url.split('/').at(-1) ?? 'database'
  const heading = 'PostgreSQL: share of its time, calls, time, rows and log for each call, by statement'
  writeFileSync(join(folder, `statements-${name}.txt`), [heading, ...lines, ''].join('\n'))
}
