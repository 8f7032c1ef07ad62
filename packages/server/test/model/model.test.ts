// SQLite and PostgreSQL agree with the memory store: the same commands, at the same times, with the same ids, give the same
// answers, tasks, receipts and obligations. A counterexample is shrunk to the few steps that matter.
import fc from 'fast-check'
import { afterAll, beforeAll, describe } from 'vitest'
import { verifies } from '../requirements.ts'
import { type OpenedStore, openTestStore } from '../stores.ts'
import { createPair, steps } from './run.ts'

const SEED = 20_260_101
const RUNS = { sqlite: 60, postgres: 40 }
const STEPS_MAX = 40

describe.each(['sqlite', 'postgres'] as const)('%s', (kind) => {
  let opened: OpenedStore
  let runs = 0
  beforeAll(async () => {
    opened = await openTestStore(kind)
  })
  afterAll(() => opened.dispose())

  verifies(
    ['RCPT-3', 'STATE-1', 'LEASE-2', 'OBL-2', 'TASK-6'],
    `agrees with the memory store on ${RUNS[kind]} runs of up to ${STEPS_MAX} steps`,
    async () => {
      await fc.assert(
        fc.asyncProperty(steps(STEPS_MAX), async (commands) => {
          await fc.asyncModelRun(() => createPair(opened.store, `run-${++runs}`), commands)
        }),
        { seed: SEED, numRuns: RUNS[kind] },
      )
    },
  )
})
