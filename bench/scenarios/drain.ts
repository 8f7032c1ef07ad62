// How fast a backlog of no-ops is worked off.
import { chooseEntrants } from '../contenders/entrants.ts'
import type { Scenario } from '../scenario.ts'
import { COST_COLUMNS, countCost } from './cost.ts'
import { BATCH_CALLERS, BATCH_SIZE, WARM_UP_COUNT, withPair } from './pair.ts'

export const drain: Scenario = {
  about: 'claim and complete a backlog of no-ops',
  count: 50_000,
  columns: [{ name: 'drain', unit: 'tasks/s', better: 'more' }, ...COST_COLUMNS],
  ratio: 'first ÷ row',
  order: 'alternating',
  goals: [{ row: 'pg-boss', column: 'drain', atLeast: 1, store: 'postgres' }],
  rows: async (bench) => {
    const { count } = bench
    return (await chooseEntrants(bench)).map((entrant) => ({
      label: entrant.label,
      measure: () =>
        withPair(bench, entrant, { warmUpCount: WARM_UP_COUNT }, async (pair) => {
          const { producer, worker, from } = pair
          await producer.ask('addInBatches', { from, count, callers: BATCH_CALLERS, batchSize: BATCH_SIZE })
          const cost = countCost(pair)
          await worker.ask('consume', { from, expected: count, style: 'throughput' })
          const { startedAt, endedAt } = await worker.ask('consumed')
          return { drain: (count * 1_000) / (endedAt - startedAt), ...cost(count) }
        }),
    }))
  },
}
