// How fast tasks are taken: one for each call, from 32 callers at once.
import { chooseEntrants } from '../contenders/entrants.ts'
import type { Scenario } from '../scenario.ts'
import { COST_COLUMNS, countCost } from './cost.ts'
import { CALLERS, withPair } from './pair.ts'

export const enqueue: Scenario = {
  about: 'create tasks, one for each call, 32 callers at once',
  count: 20_000,
  columns: [{ name: 'enqueue', unit: 'tasks/s', better: 'more' }, ...COST_COLUMNS],
  ratio: 'first ÷ row',
  order: 'alternating',
  rows: async (bench) => {
    const { count } = bench
    return (await chooseEntrants(bench)).map((entrant) => ({
      label: entrant.label,
      measure: () =>
        withPair(bench, entrant, { warmUpCount: 1_000, unfinished: count }, async (pair) => {
          const { producer, from } = pair
          const cost = countCost(pair)
          const { startedAt, endedAt } = await producer.ask('addSingly', { from, count, callers: CALLERS })
          return { enqueue: (count * 1_000) / (endedAt - startedAt), ...cost(count) }
        }),
    }))
  },
}
