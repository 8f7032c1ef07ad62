// open_obligations must cost what is open, not what has been: the same question of principals who are owed little and much,
// before and after a long history.
import { percentile } from '../report/statistics.ts'
import type { Bench, Figures, Row, Scenario } from '../scenario.ts'
import { once, openOwnGate, type OwnGate } from './own-gate.ts'

const OPEN = [10, 1_000, 100_000]
/** Each finished task leaves these: assigned, accepted, completed, result_ready. */
const RECEIPTS_PER_TASK = 4
const CALLS = 200
const PAGES_MAX = 50

export const obligations: Scenario = {
  about: 'open_obligations for 10, 1,000 and 100,000 open, before and after --count receipts of history',
  count: 100_000,
  columns: [
    { name: 'page one p50', unit: 'ms', better: 'less' },
    { name: 'page one p99', unit: 'ms', better: 'less' },
    { name: 'next pages p50', unit: 'ms', better: 'less' },
  ],
  ratio: 'row ÷ first',
  order: 'in turn',
  goals: [{ row: '100,000 open, with history', column: 'page one p50', atMost: 2 }],
  rows: async (bench) => {
    const gate = once(() => openOwnGate(bench))
    const withHistory = once(async () => addHistory(await gate(), bench))
    return ['without history', 'with history'].flatMap((history) =>
      OPEN.map((open): Row => {
        const owe = once(async () => history === 'without history' && addOpen(await gate(), open))
        return {
          label: `${open.toLocaleString('en')} open, ${history}`,
          measure: async () => {
            await owe()
            if (history === 'with history') await withHistory()
            return measure(await gate(), open)
          },
        }
      }),
    )
  },
}

const principal = (open: number) => ({ principal_kind: 'agent', principal_id: `owed-${open}` })

function addOpen({ caller }: OwnGate, open: number): Promise<void> {
  return caller.ask('createMany', { task: { type: 'open' }, count: open, as: principal(open) })
}

async function addHistory({ caller }: OwnGate, bench: Bench): Promise<void> {
  const count = Math.ceil(bench.count / RECEIPTS_PER_TASK)
  // Half of it belongs to the principals who are asked about.
  const owners = [...OPEN.map(principal), { principal_kind: 'agent', principal_id: 'others' }]
  const shares = [count / 6, count / 6, count / 6, count / 2].map(Math.ceil)
  for (const [at, as] of owners.entries()) {
    await caller.ask('createMany', { task: { type: 'past' }, count: shares[at] ?? 0, as })
  }
  await caller.ask('finishMany', { type: 'past', count })
}

async function measure({ caller }: OwnGate, open: number): Promise<Figures> {
  const path = `/v1/obligations/open?${String(new URLSearchParams(principal(open)))}`
  await caller.ask('repeat', { call: { path }, count: 20, callers: 1 })
  const { latencies } = await caller.ask('repeat', { call: { path }, count: CALLS, callers: 1 })
  const pages = await caller.ask('readPages', { path, pagesMax: PAGES_MAX })
  const next = pages.latencies.slice(1)
  return {
    'page one p50': percentile(latencies, 50),
    'page one p99': percentile(latencies, 99),
    ...(next.length > 0 ? { 'next pages p50': percentile(next, 50) } : {}),
  }
}
