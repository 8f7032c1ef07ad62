// SQLite and PostgreSQL agree with the memory store: the same commands, at the same times, with the same ids, give the same
// answers, tasks, receipts and obligations. A counterexample is shrunk to the few steps that matter.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { type OpenedStore, openTestStore } from '../stores.ts'
import { createPair, steps } from './run.ts'

const SEED = 20_260_101
const RUNS = { sqlite: 50, postgres: 25 }
const STEPS_MAX = 100
/** On a busy machine fewer runs, and a counterexample that is shrunk less. */
const TIME_MS_MAX = 20_000

// biome-ignore format: a list reads as a list
const MET = [
  'ready', 'delayed', 'parked', 'waiting', 'none', 'queued', 'leased', 'running', 'succeeded', 'failed', 'canceled',
  'idempotency_conflict', 'invalid_transition', 'lease_invalid_or_expired', 'already_settled', 'lease_renewal_limit', 'not_found',
  'task.retry_scheduled', 'lease.expired', 'system.anomaly', 'receipt.acknowledged', 'schedule.created', 'x.note', 'schedule.deleted',
]

describe.each(['sqlite', 'postgres'] as const)('%s', (kind) => {
  let opened: OpenedStore
  let runs = 0
  const met = new Map<string, number>()
  beforeAll(async () => {
    opened = await openTestStore(kind)
  })
  afterAll(() => opened.dispose())

  verifies(
    ['RCPT-3', 'STATE-1', 'LEASE-2', 'OBL-2', 'TASK-6'],
    `agrees with the memory store on up to ${RUNS[kind]} runs of up to ${STEPS_MAX} steps`,
    async () => {
      await fc.assert(
        fc.asyncProperty(steps(STEPS_MAX), async (commands) => {
          await fc.asyncModelRun(() => createPair(opened.store, { tenantId: `run-${++runs}`, met }), commands)
        }),
        { seed: SEED, numRuns: RUNS[kind], unbiased: true, interruptAfterTimeLimit: TIME_MS_MAX },
      )
    },
  )

  test('the runs have met every place, end and refusal that they are there to meet', () => {
    expect(MET.filter((what) => !met.has(what))).toEqual([])
  })
})
