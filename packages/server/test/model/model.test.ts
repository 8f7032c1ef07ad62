// SQLite and PostgreSQL agree with the memory store: the same commands, at the same times, with the same ids, give the same
// answers, tasks, receipts and obligations. A counterexample is shrunk to the few steps that matter.
import fc from 'fast-check'
import { afterAll, beforeAll, describe } from 'vitest'
import { verifies } from '../requirements.ts'
import { type OpenedStore, openTestStore } from '../stores.ts'
import { createPair, SEED, steps, STEPS_MAX } from './run.ts'

const RUNS = { sqlite: 30, postgres: 20 }
/** On a busy machine fewer runs, and a counterexample that is shrunk less. */
const TIME_MS_MAX = 15_000

describe.each(['sqlite', 'postgres'] as const)('%s', (kind) => {
  let opened: OpenedStore
  let runs = 0
  beforeAll(async () => {
    opened = await openTestStore(kind)
  })
  afterAll(() => opened.dispose())

  verifies(
    'RCPT-3',
    `agrees with the memory store on up to ${RUNS[kind]} runs of up to ${STEPS_MAX} steps`,
    async () => {
      await fc.assert(
        fc.asyncProperty(steps, async (commands) => {
          await fc.asyncModelRun(() => createPair(opened.store, { tenantId: `run-${++runs}` }), commands)
        }),
        { seed: SEED, numRuns: RUNS[kind], unbiased: true, interruptAfterTimeLimit: TIME_MS_MAX },
      )
    },
  )
})
