// How fast tasks are taken a thousand for each call.
import { chooseEntrants } from '../contenders/entrants.ts'
import type { Scenario } from '../scenario.ts'
import { COST_COLUMNS, countCost } from './cost.ts'
import { BATCH_CALLERS, BATCH_SIZE, withPair } from './pair.ts'

export const enqueueBatch: Scenario = {
  about: 'create tasks, a thousand for each call',
  count: 50_000,
  columns: [{ name: 'enqueue ×1000', unit: 'tasks/s', better: 'more' }, ...COST_COLUMNS],
  ratio: 'first ÷ row',
  order: 'alternating',
  rows: async (bench) => {
    const { count } = bench
    return (await chooseEntrants(bench)).map((entrant) => ({
      label: entrant.label,
      measure: () =>
        withPair(bench, entrant, { warmUpCount: 4_000, unfinished: count }, async (pair) => {
          const { producer, from } = pair
          const cost = countCost(pair)
          const load = { from, count, callers: BATCH_CALLERS, batchSize: BATCH_SIZE }
          const { startedAt, endedAt } = await producer.ask('addInBatches', load)
          return { 'enqueue ×1000': (count * 1_000) / (endedAt - startedAt), ...cost(count) }
        }),
    }))
  },
}
