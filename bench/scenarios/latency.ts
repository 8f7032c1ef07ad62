// How long it takes from the call that creates a task to its handler in another process, at a pace that loads nobody.
import { chooseEntrants } from '../contenders/entrants.ts'
import { percentile } from '../report/statistics.ts'
import type { Scenario } from '../scenario.ts'
import { WARM_UP_COUNT, withPair } from './pair.ts'

const PER_SECOND = 50

export const latency: Scenario = {
  about: 'create → handler at 50 tasks a second, over a waiting claim (--instances 2: across two servers)',
  count: 500,
  columns: [
    { name: 'p50', unit: 'ms', better: 'less' },
    { name: 'p99', unit: 'ms', better: 'less' },
  ],
  ratio: 'first ÷ row',
  order: 'alternating',
  goals: [
    { row: 'Graphile', column: 'p50', atMost: 1.5 },
    { row: 'Graphile', column: 'p99', atMost: 1 },
  ],
  rows: async (bench) => {
    const { count } = bench
    return (await chooseEntrants(bench, { latency: true })).map((entrant) => ({
      label: entrant.label,
      measure: () =>
        withPair(bench, entrant, { warmUpCount: WARM_UP_COUNT }, async ({ producer, worker, from }) => {
          await worker.ask('consume', { from, expected: count, style: 'latency' })
          await producer.ask('addPaced', { from, count, perSecond: PER_SECOND })
          const { latencies } = await worker.ask('consumed')
          return { p50: percentile(latencies, 50), p99: percentile(latencies, 99) }
        }),
    }))
  },
}
