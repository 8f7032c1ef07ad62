// What becomes of a queue while somebody reads for long: a report, a dump, a forgotten session. PostgreSQL keeps every row version
// that the reader could still ask for, and whoever looks for work steps over them. The same load as end to end, in windows, with
// one reader open from before the first to after the last.
import { startReading } from '../lab/long-read.ts'
import type { Figures, Scenario } from '../scenario.ts'
import { countCost } from './cost.ts'
import { CALLERS, onPostgres, type Pair, type PostgresPair } from './pair.ts'
import { perTask, readWritten } from './wal.ts'

const WINDOWS = 10

export const longReader: Scenario = {
  about:
    'end to end one by one while a reader keeps old row versions alive: the first tenth and the last, on PostgreSQL',
  count: 200_000,
  columns: [
    { name: 'first tenth', unit: 'tasks/s', better: 'more' },
    { name: 'last tenth', unit: 'tasks/s', better: 'more' },
    { name: 'kept', unit: '%', better: 'more' },
    { name: 'database at first', unit: 'µs/task', better: 'less' },
    { name: 'database at last', unit: 'µs/task', better: 'less' },
    { name: 'WAL', unit: 'bytes/task', better: 'less' },
    { name: 'dead rows', unit: 'per task', better: 'less' },
  ],
  ratio: 'first ÷ row',
  order: 'alternating',
  rows: onPostgres({ warmUpCount: 2_000 }, measure),
}

async function measure(pair: PostgresPair): Promise<Figures> {
  const { bench, database, label } = pair
  const size = Math.ceil(bench.count / WINDOWS)
  const before = await readWritten(database)
  const endReading = await startReading(database)
  const windows: Window[] = []
  for (let at = 0; at < WINDOWS; at += 1) {
    windows.push(await measureWindow(pair, { from: pair.from + at * size, count: size }))
    bench.lab.progress(`${label}: ${at + 1} of ${WINDOWS}, ${Math.round(windows[at]!.perSecond)} tasks/s`)
  }
  await endReading()
  const written = perTask(before, await readWritten(database), WINDOWS * size)
  const [first, last] = [windows[0]!, windows.at(-1)!]
  return {
    'first tenth': first.perSecond,
    'last tenth': last.perSecond,
    kept: (last.perSecond / first.perSecond) * 100,
    'database at first': first.databaseMicros,
    'database at last': last.databaseMicros,
    WAL: written['WAL']!,
    'dead rows': written['dead rows']!,
  }
}

interface Window {
  readonly perSecond: number
  readonly databaseMicros: number
}

async function measureWindow(pair: Pair, { from, count }: { from: number; count: number }): Promise<Window> {
  const { producer, worker } = pair
  const cost = countCost(pair)
  await worker.ask('consume', { from, expected: count, style: 'throughput' })
  const { startedAt } = await producer.ask('addSingly', { from, count, callers: CALLERS })
  const { endedAt } = await worker.ask('consumed')
  return {
    perSecond: (count * 1_000) / (endedAt - startedAt),
    databaseMicros: cost(count)['CPU of the database']!,
  }
}
