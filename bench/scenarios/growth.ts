// The cost of a task must not grow with what else is in the database: creating, claiming and completing with more and more
// beside it. A second server, whose database has nothing beside it, is measured each time just before: this machine is not
// equally fast from one minute to the next.
import { percentile } from '../report/statistics.ts'
import type { Figures, Row, Scenario } from '../scenario.ts'
import { once, openOwnGate, type OwnGate } from './own-gate.ts'

const TYPE = 'bench'
const DAY_SECONDS = 86_400
/** How many tasks each measurement works off, in batches and one by one. */
const BATCHED = 20_000
const SINGLE = 500
/** The first runs of a fresh server and a fresh database are slower than any later ones. */
const WARM_UPS = 3

export const growth: Scenario = {
  about:
    'throughput and latency with --count more tasks queued, then delayed, unmatched and finished, beside none',
  count: 100_000,
  columns: [
    { name: 'create ×1000', unit: 'tasks/s', better: 'more' },
    { name: 'claim + complete', unit: 'tasks/s', better: 'more' },
    { name: 'claim + complete, beside an empty one', unit: '×', better: 'more' },
    { name: 'single p50', unit: 'ms', better: 'less' },
    { name: 'single p50, beside an empty one', unit: '×', better: 'less' },
    { name: 'single p99', unit: 'ms', better: 'less' },
  ],
  ratio: 'row ÷ first',
  order: 'in turn',
  goals: [
    { row: '+', column: 'claim + complete, beside an empty one', atLeast: 0.9 },
    { row: '+', column: 'single p50, beside an empty one', atMost: 1.1 },
  ],
  rows: async (bench) => {
    const { count } = bench
    const gates = once(async () => {
      const pair = { empty: await openOwnGate(bench), growing: await openOwnGate(bench) }
      for (let run = 0; run < WARM_UPS; run += 1) await measureBoth(pair)
      return pair
    })
    const row = (label: string, grow: (gate: OwnGate) => Promise<unknown>): Row => {
      const grown = once(async () => {
        const { growing } = await gates()
        await grow(growing)
        await tidyUp(growing)
      })
      return {
        label,
        measure: async () => {
          await grown()
          return measureBoth(await gates())
        },
      }
    }
    const amount = count.toLocaleString('en')
    return [
      // What the two differ by themselves.
      row('nothing more', async () => {}),
      // Of the same type, behind those that are measured.
      row(`+ ${amount} queued`, (to) => add(to, { priority: -1 }, count)),
      row(`+ ${amount} delayed`, (to) => add(to, { delay_seconds: DAY_SECONDS }, count)),
      row(`+ ${amount} unmatched, at higher priority`, (to) =>
        add(to, { priority: 10, requirements: { capabilities: ['gpu'] } }, count),
      ),
      row(`+ ${amount} finished`, async ({ caller }) => {
        await caller.ask('createMany', { task: { type: 'past' }, count })
        await caller.ask('finishMany', { type: 'past', count })
      }),
    ]
  },
}

interface Gates {
  readonly empty: OwnGate
  readonly growing: OwnGate
}

async function measureBoth({ empty, growing }: Gates): Promise<Figures> {
  const without = await measure(empty)
  const figures = await measure(growing)
  const beside = (name: string) => figures[name]! / without[name]!
  return {
    ...figures,
    'claim + complete, beside an empty one': beside('claim + complete'),
    'single p50, beside an empty one': beside('single p50'),
  }
}

/** What PostgreSQL does by itself in the minutes after a million rows is no part of what is measured. */
async function tidyUp({ stage: { database } }: OwnGate): Promise<void> {
  await database?.query('vacuum analyze')
  await database?.query('checkpoint')
}

function add({ caller }: OwnGate, fields: object, count: number): Promise<void> {
  return caller.ask('createMany', { task: { type: TYPE, ...fields }, count })
}

async function measure({ caller }: OwnGate): Promise<Figures> {
  const startedAt = performance.now()
  await caller.ask('createMany', { task: { type: TYPE }, count: BATCHED + SINGLE })
  const createdAt = performance.now()
  const single = await caller.ask('workSingly', { type: TYPE, count: SINGLE })
  const batched = await caller.ask('finishMany', { type: TYPE, count: BATCHED })
  return {
    'create ×1000': ((BATCHED + SINGLE) * 1_000) / (createdAt - startedAt),
    'claim + complete': (BATCHED * 1_000) / (batched.endedAt - batched.startedAt),
    'single p50': percentile(single.latencies, 50),
    'single p99': percentile(single.latencies, 99),
  }
}
