// Real races on a real PostgreSQL: four engines with four stores on one database, duplicate keys, doubled reports, cancels and
// sweeps at once; afterwards everything that the simulation demands of a state holds for what the database says.
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { isTerminal } from '../../src/engine/model.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import type { Positioned, Store } from '../../src/store/port.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { verifies } from '../requirements.ts'
import { createChance } from '../simulation/chance.ts'
import { claimOf, completeOf } from '../simulation/commands.ts'
import { createArchive } from '../simulation/invariants/archive.ts'
import { limitProblems } from '../simulation/invariants/limits.ts'
import { obligationProblems } from '../simulation/invariants/obligations.ts'
import { placeProblems } from '../simulation/invariants/places.ts'
import { taskProblems } from '../simulation/invariants/tasks.ts'
import { createStateReader } from '../simulation/state.ts'
import { createHammer, type Hammer, TENANT } from './hammer.ts'
import { CAPACITY, OWNER, playRound, workerOf } from './round.ts'
import { POLICY } from './run.ts'

const ENGINES = 4
const ROUNDS = 6
const DRAIN_ROUNDS_MAX = 200

describe('four engines on one PostgreSQL', () => {
  let database: TestDatabase
  let stores: Store[]

  beforeAll(async () => {
    database = await createDatabase()
    const options = { ...database, poolSize: 3, preparedStatements: true }
    stores = await Promise.all(Array.from({ length: ENGINES }, () => createPostgresStore(options)))
    await Promise.all(stores.map((store) => store.migrate()))
  })
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()))
    await database.drop()
  })

  verifies(
    ['LEASE-1', 'LEASE-8', 'TASK-2', 'GUAR-2', 'GUAR-3', 'RCPT-10', 'OBL-2'],
    'racing duplicates, cancels, reports and sweeps break no promise, and a reader of the ledger misses nothing',
    async () => {
      const chance = createChance(1)
      const policy = { ...POLICY, claim: { maxTasks: 1_000, maxConcurrentLeases: 20 } }
      const hammer = createHammer(stores, { chance, policy })
      const capacities = new Map(
        Array.from({ length: 100 }, (_, number) => workerOf(number)).flatMap(({ worker, capacity }) =>
          capacity === null ? [] : [[worker.id, CAPACITY] as const],
        ),
      )
      const read = createStateReader(stores[0]!, { tenantId: TENANT, principals: [OWNER] })
      const archive = createArchive()
      const follower = follow(stores[1]!)
      const tasks: string[] = []

      for (let number = 0; number < ROUNDS; number++) {
        await playRound(hammer, { number, chance, tasks })
        const state = await read()
        expect([
          ...archive.problems(state.ledger),
          ...taskProblems(state),
          ...obligationProblems(state),
          ...limitProblems(state, { capacities, tenantLeasesMax: 20 }),
          ...placeProblems(state, { now: hammer.clock.now(), skewMs: 0 }),
          ...hammer.acknowledged.problems(state),
        ]).toEqual([])
        await hammer.clock.advance(number % 2 === 0 ? 6_000 : 11_000)
      }
      await drain(hammer, async () => {
        const state = await read()
        return [...state.tasks.values()].every((task) => isTerminal(task.state.status))
      })

      const { ledger } = await read()
      expect((await follower.stop()).map(({ receipt }) => receipt.receiptId)).toEqual(
        ledger.map(({ receipt }) => receipt.receiptId),
      )
      expect(await stores[2]!.findDoubtfulObligations(10)).toEqual([])
      await hammer.stop()
    },
  )
})

/** Reads the ledger page by page while it is written. */
function follow(store: Store) {
  const seen: Positioned[] = []
  let stopping = false
  const anyone = { kind: null, id: null }
  const query = {
    tenantId: TENANT,
    to: anyone,
    from: anyone,
    concerning: null,
    taskId: null,
    receiptType: null,
  }
  const reading = (async () => {
    for (;;) {
      const last = stopping
      const page = await store.listReceipts({ ...query, after: seen.at(-1)?.position ?? null, limit: 7 })
      seen.push(...page)
      if (last && page.length === 0) return seen
      if (page.length === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  return {
    stop: () => {
      stopping = true
      return reading
    },
  }
}

/** A well behaved worker ends what is left. */
async function drain(hammer: Hammer, isDone: () => Promise<boolean>): Promise<void> {
  const worker = { kind: 'worker', id: 'drainer' } as const
  for (let round = 0; round < DRAIN_ROUNDS_MAX; round++) {
    if (await isDone()) return
    await hammer.sweep()
    const grants = await hammer.claim(claimOf(worker, { maxTasks: 100 }))
    await hammer.ask(
      grants.map(({ lease }) => completeOf({ worker, taskId: lease.taskId, leaseId: lease.leaseId })),
    )
    if (grants.length === 0) await hammer.clock.advance(5_000)
  }
  throw new Error('the workers did not come to an end')
}
