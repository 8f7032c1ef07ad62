// From creation to completion while both go on: tasks are created one for each call, or a thousand, and a worker claims and
// completes them meanwhile. The time is from the first creation to the last durable completion.
import { chooseEntrants, type Entrant } from '../contenders/entrants.ts'
import type { Bench, Figures, Goal, Scenario } from '../scenario.ts'
import { COST_COLUMNS, countCost } from './cost.ts'
import { BATCH_CALLERS, BATCH_SIZE, CALLERS, type Pair, WARM_UP_COUNT, withPair } from './pair.ts'

const COLUMN = 'end to end'

export const endToEnd = scenario({
  about: 'create one by one (32 callers) while a worker claims and completes',
  count: 50_000,
  goals: [
    { row: 'pg-boss', column: COLUMN, atLeast: 3, store: 'postgres' },
    { row: 'Graphile', column: COLUMN, atLeast: 5, store: 'postgres' },
    { row: 'BullMQ 6.7.0, PostgreSQL', column: COLUMN, atLeast: 5, store: 'postgres' },
    { row: 'plainjob 0.0.14, SQLite FULL', column: COLUMN, atLeast: 2, store: 'sqlite' },
  ],
  create: ({ producer, from }, count) => producer.ask('addSingly', { from, count, callers: CALLERS }),
})

export const endToEndBatch = scenario({
  about: 'create a thousand for each call while a worker claims and completes',
  count: 50_000,
  goals: [
    { row: 'pg-boss', column: COLUMN, atLeast: 1.2, store: 'postgres' },
    { row: 'plainjob 0.0.14, SQLite FULL', column: COLUMN, atLeast: 4, store: 'sqlite' },
  ],
  create: ({ producer, from }, count) =>
    producer.ask('addInBatches', { from, count, callers: BATCH_CALLERS, batchSize: BATCH_SIZE }),
})

interface Variety {
  readonly about: string
  readonly count: number
  readonly goals: readonly Goal[]
  readonly create: (pair: Pair, count: number) => Promise<{ startedAt: number }>
}

function scenario({ create, ...facts }: Variety): Scenario {
  return {
    ...facts,
    columns: [{ name: COLUMN, unit: 'tasks/s', better: 'more' }, ...COST_COLUMNS],
    ratio: 'first ÷ row',
    order: 'alternating',
    rows: async (bench) =>
      (await chooseEntrants(bench)).map((entrant) => ({
        label: entrant.label,
        measure: () => measureEndToEnd(bench, entrant, create),
      })),
  }
}

export function measureEndToEnd(
  bench: Bench,
  entrant: Entrant,
  create: Variety['create'] = createSingly,
): Promise<Figures> {
  const { count } = bench
  return withPair(bench, entrant, { warmUpCount: WARM_UP_COUNT }, async (pair) => {
    const cost = countCost(pair)
    await pair.worker.ask('consume', { from: pair.from, expected: count, style: 'throughput' })
    const { startedAt } = await create(pair, count)
    const { endedAt } = await pair.worker.ask('consumed')
    return { [COLUMN]: (count * 1_000) / (endedAt - startedAt), ...cost(count) }
  })
}

function createSingly({ producer, from }: Pair, count: number): Promise<{ startedAt: number }> {
  return producer.ask('addSingly', { from, count, callers: CALLERS })
}
