// An hour of work at a pace that loads nobody, beside a reader that stays for all of it, and a while after it has gone. PostgreSQL
// cannot clear anything away meanwhile: does a task wait longer at the end, does the database work more for it, and does its
// autovacuum catch up with what was left?
import { startReading } from '../lab/long-read.ts'
import { percentile } from '../report/statistics.ts'
import type { Column, Figures, Scenario } from '../scenario.ts'
import { countCost } from './cost.ts'
import { onPostgres, type PostgresPair } from './pair.ts'

const PER_SECOND = 100
const WINDOWS = 12

/** The first window, the last beside the reader, and one more after it. */
const MOMENTS = ['at first', 'at last', 'after'] as const

export const steady: Scenario = {
  about: `${PER_SECOND} tasks a second for an hour beside a reader that stays, and a twelfth more after it, on PostgreSQL`,
  count: PER_SECOND * 3_600,
  columns: MOMENTS.flatMap((moment): Column[] => [
    { name: `p50 ${moment}`, unit: 'ms', better: 'less' },
    { name: `p99 ${moment}`, unit: 'ms', better: 'less' },
    { name: `database ${moment}`, unit: 'µs/task', better: 'less' },
    { name: `dead rows ${moment}`, unit: 'rows', better: 'less' },
  ]),
  ratio: 'first ÷ row',
  order: 'alternating',
  rows: onPostgres({ warmUpCount: 2_000 }, measure),
}

async function measure(pair: PostgresPair): Promise<Figures> {
  const { bench, database, label } = pair
  const count = Math.ceil(bench.count / WINDOWS)
  const windows: Window[] = []
  const next = async () => {
    const window = await measureWindow(pair, { from: pair.from + windows.length * count, count })
    windows.push(window)
    const { p50, p99, databaseMicros, deadRows } = window
    bench.lab.progress(
      `${label}: ${windows.length} of ${WINDOWS + 1}, ${p50.toFixed(1)} / ${p99.toFixed(1)} ms, database ${databaseMicros.toFixed(0)} µs/task, ${deadRows} dead rows`,
    )
  }
  const endReading = await startReading(database)
  while (windows.length < WINDOWS) await next()
  await endReading()
  await next()
  const shown = [windows[0]!, windows[WINDOWS - 1]!, windows[WINDOWS]!]
  return Object.fromEntries(MOMENTS.flatMap((moment, at) => figuresOf(shown[at]!, moment)))
}

interface Window {
  readonly p50: number
  readonly p99: number
  readonly databaseMicros: number
  readonly deadRows: number
}

function figuresOf({ p50, p99, databaseMicros, deadRows }: Window, moment: string): [string, number][] {
  return [
    [`p50 ${moment}`, p50],
    [`p99 ${moment}`, p99],
    [`database ${moment}`, databaseMicros],
    [`dead rows ${moment}`, deadRows],
  ]
}

async function measureWindow(
  pair: PostgresPair,
  { from, count }: { from: number; count: number },
): Promise<Window> {
  const { producer, worker, database } = pair
  const cost = countCost(pair)
  await worker.ask('consume', { from, expected: count, style: 'latency' })
  await producer.ask('addPaced', { from, count, perSecond: PER_SECOND })
  const { latencies } = await worker.ask('consumed')
  const [row] = await database.query('select sum(n_dead_tup)::float8 as dead from pg_stat_user_tables')
  return {
    p50: percentile(latencies, 50),
    p99: percentile(latencies, 99),
    databaseMicros: cost(count)['CPU of the database']!,
    deadRows: Number(row?.['dead'] ?? 0),
  }
}
