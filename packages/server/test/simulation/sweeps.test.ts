// What the simulation found about several instances that sweep at once, as the shortest history.
import { expect } from 'vitest'
import type { Claimed } from '../../src/engine/decide/index.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { createIds } from '../../src/ids.ts'
import { createReaper } from '../../src/service/reaper.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { verifies } from '../requirements.ts'
import { createSeededRandom } from '../seeded-random.ts'
import { createVirtualClock } from '../virtual-clock.ts'
import { createChance } from './chance.ts'
import { claimOf, completeOf, newTask } from './commands.ts'
import { simulatedPolicy } from './policy.ts'
import { createStateReader } from './state.ts'

const AGENT = { kind: 'agent', id: 'agent' } as const
const WORKER = { kind: 'worker', id: 'worker' } as const

verifies('OBL-6', 'two instances that sweep at once report an unlinkable result once', async () => {
  const store = createMemoryStore()
  const clock = createVirtualClock()
  const random = createSeededRandom(1)
  const policy = simulatedPolicy(createChance(1))
  const lenient = { ...policy, receipts: { ...policy.receipts, locatability: 'lenient' } } as const
  const [first, second] = ['server-1', 'server-2'].map((instance) => {
    const ids = createIds({ clock, random })
    const engine = createEngine({ store, clock, random, ids, policy: lenient, instance, onError: () => {} })
    return { engine, reaper: createReaper({ store, engine, clock, graceMs: 0, onRefused: fail }) }
  })
  await first!.engine.run('tenant', { kind: 'create', task: newTask(AGENT) })
  const { grants } = await first!.engine.run<Claimed>('tenant', claimOf(WORKER))
  const { taskId, leaseId } = grants[0]!.lease
  await first!.engine.run('tenant', completeOf({ worker: WORKER, taskId, leaseId }, { storeResult: false }))

  await clock.advance(25 * 3_600_000)
  await Promise.all([first!.reaper.runOnce(), second!.reaper.runOnce()])

  const { ledger } = await createStateReader(store, { tenantId: 'tenant', principals: [AGENT] })()
  const kinds = ledger.map(({ receipt }) => receipt.body['kind'])
  expect(kinds.filter((kind) => kind === 'work_done_but_unlinkable')).toHaveLength(1)
})

/** Nothing that a sweep finds may be refused. */
function fail(error: Error): never {
  throw error
}
