// Thousands of workers that wait for work on one server: what they cost while nothing happens, and how soon they are served
// when something does, steadily and all at once.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Player, startPlayer } from '../lab/player.ts'
import { processorSeconds, residentBytes } from '../lab/process-figures.ts'
import type { QueueActs } from '../players/queue-player.ts'
import type { WaitingActs } from '../players/waiting-player.ts'
import { percentile } from '../report/statistics.ts'
import type { Bench, Figures, Scenario } from '../scenario.ts'
import { openOwnGate, type OwnGate } from './own-gate.ts'

const FEW = 100
const PLAYERS = 2
const IDLE_MS = 10_000
const STEADY = { count: 1_000, perSecond: 100 }
const SERVE_MS_MAX = 120_000

export const waitingWorkers: Scenario = {
  about:
    'claims that wait on one server: memory, idle processor time, and time from creation to the answered claim',
  count: 10_000,
  columns: [
    { name: 'memory', unit: 'MB', better: 'less' },
    { name: 'idle CPU', unit: '%', better: 'less' },
    { name: 'steady p50', unit: 'ms', better: 'less' },
    { name: 'steady p99', unit: 'ms', better: 'less' },
    { name: 'burst p99', unit: 'ms', better: 'less' },
  ],
  ratio: 'row ÷ first',
  order: 'alternating',
  rows: async (bench) => {
    bench.note(
      `steady: ${STEADY.perSecond} tasks a second; burst: one task for every worker, in batches of 1000.`,
    )
    return [...new Set([FEW, bench.count])].map((count) => ({
      label: `${count.toLocaleString('en')} waiting`,
      measure: () => measure(bench, count),
    }))
  },
}

async function measure(bench: Bench, count: number): Promise<Figures> {
  const gate = await openOwnGate(bench)
  const waiters = Array.from({ length: PLAYERS }, () => startPlayer<WaitingActs>(bench.lab, 'waiting-player'))
  const producer = startPlayer<QueueActs>(bench.lab, 'queue-player')
  try {
    await producer.ask('open', { contender: 'asyncgate', target: gate.stage.targets[0] })
    await Promise.all(waiters.map((waiter, at) => waiter.ask('wait', shareOf(gate, count, at))))
    await untilWaiting(gate, waiters, count)
    const idle = await idleShare(gate.stage.serverPid ?? 0)
    await producer.ask('addPaced', { from: 0, ...STEADY })
    const steady = await served(waiters, STEADY.count)
    await untilWaiting(gate, waiters, count)
    await producer.ask('addInBatches', { from: 0, count, callers: 1, batchSize: 1_000 })
    const burst = await served(waiters, count)
    return {
      ...idle,
      'steady p50': percentile(steady, 50),
      'steady p99': percentile(steady, 99),
      'burst p99': percentile(burst, 99),
    }
  } finally {
    for (const player of [...waiters, producer]) await player.stop()
    await gate.close()
  }
}

function shareOf({ address }: OwnGate, count: number, at: number) {
  const each = Math.ceil(count / PLAYERS)
  return { address, from: at * each, count: Math.min(each, count - at * each) }
}

/** Without one that failed they would never be all. */
async function untilWaiting(
  { caller }: OwnGate,
  waiters: readonly Player<WaitingActs>[],
  count: number,
): Promise<void> {
  for (;;) {
    const health = (await caller.ask('call', { path: '/health' })) as { waiting_claims: number }
    if (health.waiting_claims >= count) return
    for (const waiter of waiters) await waiter.ask('check')
    await sleep(100)
  }
}

async function idleShare(pid: number): Promise<Figures> {
  await sleep(1_000)
  const before = processorSeconds(pid)
  await sleep(IDLE_MS)
  const seconds = processorSeconds(pid) - before
  return { memory: residentBytes(pid) / 2 ** 20, 'idle CPU': (seconds / (IDLE_MS / 1_000)) * 100 }
}

async function served(waiters: readonly Player<WaitingActs>[], count: number): Promise<readonly number[]> {
  const latencies: number[] = []
  const until = performance.now() + SERVE_MS_MAX
  while (latencies.length < count) {
    if (performance.now() > until) throw new Error(`only ${latencies.length} of ${count} were served`)
    await sleep(50)
    for (const waiter of waiters) latencies.push(...(await waiter.ask('takeLatencies')))
  }
  return latencies
}
