// Runs the same steps on a store and on the memory store, and compares all that can be seen after each.
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Claimed, Result } from '../../src/engine/decide/index.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Store } from '../../src/store/port.ts'
import { createChance } from '../simulation/chance.ts'
import { simulatedPolicy } from '../simulation/policy.ts'
import { see } from './seen.ts'
import { createSide, type Moment, type Side } from './side.ts'
import { AGENTS, KEYS, type Known, passing, single, type Step, together, WORKERS } from './steps.ts'

interface Pair {
  readonly oracle: Side
  readonly subject: Side
  steps: number
  /** What the run has met: refusals, places, ends. */
  readonly met: Map<string, number>
}

type ModelStep = fc.AsyncCommand<Known, Pair>

const START = Date.UTC(2026, 0, 1)

export const SEED = 20_260_101
export const STEPS_MAX = 100
const policies = simulatedPolicy(createChance(1))
export const POLICY = {
  ...policies,
  lease: { ...policies.lease, maxRenewals: 1, maxLifetimeSeconds: 0 },
  receipts: { ...policies.receipts, locatability: 'lenient' },
  claim: { maxTasks: 1_000, maxConcurrentLeases: 6 },
} as const

export function createPair(
  store: Store,
  { tenantId, met = new Map() }: { tenantId: string; met?: Map<string, number> },
): { model: Known; real: Pair } {
  return {
    model: { now: START, tasks: [], leases: [], receipts: [] },
    real: {
      oracle: createSide({ store: createMemoryStore(), tenantId, policy: POLICY }),
      subject: createSide({ store, tenantId, policy: POLICY }),
      steps: 0,
      met,
    },
  }
}

async function both(
  known: Known,
  pair: Pair,
  act: (side: Side, at: Moment) => Promise<readonly Result[]>,
): Promise<void> {
  const at = { now: known.now, number: ++pair.steps }
  const expected = await act(pair.oracle, at)
  const answered = await act(pair.subject, at)
  expect(answered.map(answerOf), 'answers').toEqual(expected.map(answerOf))
  const of = { principals: [...AGENTS, ...WORKERS], now: known.now, keys: KEYS }
  const [should, is] = [await see(pair.oracle, of), await see(pair.subject, of)]
  // The matcher explains well and compares slowly.
  if (!isDeepStrictEqual(is, should)) expect(is).toEqual(should)
  learn(known, expected)
  count(
    pair.met,
    should.tasks.flatMap(({ state }) => [state.status, state.place]),
  )
  count(
    pair.met,
    expected.flatMap((result) => (result.ok ? [] : result.error.code)),
  )
  const fresh = should.ledger.slice(known.receipts.length)
  count(
    pair.met,
    fresh.map(({ receipt }) => receipt.receiptType),
  )
  known.receipts.push(...fresh.map(({ receipt }) => receipt.receiptId))
}

function count(met: Map<string, number>, whats: readonly string[]): void {
  for (const what of whats) met.set(what, (met.get(what) ?? 0) + 1)
}

function answerOf(result: Result): unknown {
  return result.ok ? result.reply : result.error.body()
}

function learn(known: Known, results: readonly Result[]): void {
  for (const result of results) {
    const { taskId, grants } = (result.ok ? (result.reply ?? {}) : {}) as {
      taskId?: string
    } & Partial<Claimed>
    if (taskId !== undefined && !known.tasks.includes(taskId)) known.tasks.push(taskId)
    for (const { lease } of grants ?? []) {
      known.leases.push({ worker: lease.worker, taskId: lease.taskId, leaseId: lease.leaseId })
    }
  }
}

function carryOut({ text, commands }: Step): ModelStep {
  return {
    toString: () => text,
    check: (known) => commands(known).length > 0,
    run: (known, pair) => both(known, pair, (side, at) => side.execute(commands(known), at)),
  }
}

const sweep = fc.constant<ModelStep>({
  toString: () => 'sweep',
  check: () => true,
  run: (known, pair) => both(known, pair, (side, at) => side.sweep(at)),
})

const timePasses = passing.map(
  (ms): ModelStep => ({
    toString: () => `${ms} ms pass`,
    check: () => true,
    run: async (known) => {
      known.now += ms
    },
  }),
)

const one = single.map(carryOut)
const several = together.map(carryOut)

/** A kind is as likely as it is often in this list. */
export const steps: fc.Arbitrary<Iterable<ModelStep>> = fc.commands(
  [one, one, one, one, one, several, several, timePasses, sweep],
  { maxCommands: STEPS_MAX, size: 'max' },
)
