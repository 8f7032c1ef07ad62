// Lists must cost a page, not the history behind it: every list with each of its filters, on little and on much, on the
// first page and on the thousandth.
import { percentile } from '../report/statistics.ts'
import type { Figures, Row, Scenario } from '../scenario.ts'
import { once, openOwnGate, type OwnGate } from './own-gate.ts'

const FEW = 1_000
const PAGE = 1_000
const CALLS = 100
/** How many pages up to the thousandth are looked at together. */
const AROUND = 50
const TASK = { type: 'past', requirements: { tags: ['nightly'] } }
const SINCE = 'created_after=2020-01-01T00:00:00Z'

/** All of them match every task, so that there are a thousand pages, but the last, which matches none. */
const LISTS: Readonly<Record<string, string>> = {
  tasks: '/v1/tasks',
  'by status': '/v1/tasks?status=succeeded',
  'by type': '/v1/tasks?type=past',
  'by owner': '/v1/tasks?created_by=agent/default',
  'by tag': '/v1/tasks?tag=nightly',
  'by time': `/v1/tasks?${SINCE}`,
  receipts: '/v1/receipts',
  'to whom': '/v1/receipts?to_kind=agent&to_id=default',
  'from whom': '/v1/receipts?from_kind=worker&from_id=finisher',
  'of a type': '/v1/receipts?receipt_type=task.completed',
  'no dead letters': '/v1/tasks?status=failed&dead_letter=true',
}

export const reads: Scenario = {
  about: 'list_tasks and list_receipts by each filter, with 1,000 and with --count tasks finished',
  count: 100_000,
  columns: Object.keys(LISTS).map((name) => ({ name, unit: 'ms', better: 'less' as const })),
  ratio: 'row ÷ first',
  order: 'in turn',
  goals: Object.keys(LISTS).flatMap((column) =>
    ['many', 'thousandth'].map((row) => ({ row, column, atMost: 2 })),
  ),
  rows: async (bench) => {
    bench.note(`few: ${FEW.toLocaleString('en')} tasks; many: ${bench.count.toLocaleString('en')} more.`)
    const gate = once(() => openOwnGate(bench))
    const few = once(async () => finish(await gate(), FEW))
    const many = once(async () => finish(await gate(), bench.count))
    const row = (
      label: string,
      grow: () => Promise<unknown>,
      read: (gate: OwnGate) => Promise<Figures>,
    ): Row => ({
      label,
      measure: async () => {
        await few()
        await grow()
        return read(await gate())
      },
    })
    return [
      row('few, page one', few, readFirst),
      row('many, page one', many, readFirst),
      row('thousandth page of many', many, readThousandth),
    ]
  },
}

async function finish({ caller }: OwnGate, count: number): Promise<void> {
  await caller.ask('createMany', { task: TASK, count })
  await caller.ask('finishMany', { type: TASK.type, count })
}

async function readFirst({ caller }: OwnGate): Promise<Figures> {
  const figures: Record<string, number> = {}
  for (const [name, path] of Object.entries(LISTS)) {
    await caller.ask('repeat', { call: { path }, count: 20, callers: 1 })
    const { latencies } = await caller.ask('repeat', { call: { path }, count: CALLS, callers: 1 })
    figures[name] = percentile(latencies, 50)
  }
  return figures
}

async function readThousandth({ caller }: OwnGate): Promise<Figures> {
  const figures: Record<string, number> = {}
  for (const [name, path] of Object.entries(LISTS)) {
    const { latencies } = await caller.ask('readPages', { path, pagesMax: PAGE })
    if (latencies.length > AROUND) figures[name] = percentile(latencies.slice(-AROUND), 50)
  }
  return figures
}
