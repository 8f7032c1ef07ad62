// What the simulation found about tasks that are parked for room under their concurrency key, as the shortest histories.
import { expect, test } from 'vitest'
import type { Command } from '../../src/engine/command.ts'
import type { Claimed, Grant } from '../../src/engine/decide/index.ts'
import { createEngine } from '../../src/engine/engine.ts'
import { createIds } from '../../src/ids.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { createSeededRandom } from '../seeded-random.ts'
import { createVirtualClock } from '../virtual-clock.ts'
import { createChance } from './chance.ts'
import { claimOf, completeOf, newTask } from './commands.ts'
import { simulatedPolicy } from './policy.ts'

const AGENT = { kind: 'agent', id: 'agent' } as const
const WORKER = { kind: 'worker', id: 'worker' } as const

function open() {
  const clock = createVirtualClock()
  const random = createSeededRandom(1)
  const engine = createEngine({
    store: createMemoryStore(),
    clock,
    random,
    ids: createIds({ clock, random }),
    policy: { ...simulatedPolicy(createChance(1)), claim: { maxTasks: 10, maxConcurrentLeases: 0 } },
    instance: 'server',
    onError: (error) => {
      throw error
    },
  })
  const run = <R>(command: Command) => engine.run<R>('tenant', command)
  const create = async (wanted: { deadlineAt?: number } = {}) =>
    (await run<{ taskId: string }>({ kind: 'create', task: keyed(wanted) })).taskId
  const claim = async () => (await run<Claimed>(claimOf(WORKER))).grants
  return { engine, clock, run, create, claim }
}

function keyed(wanted: { deadlineAt?: number } = {}) {
  return newTask(AGENT, { concurrencyKey: 'one', ...wanted })
}

function complete({ lease }: Grant): Command {
  return completeOf({ worker: WORKER, taskId: lease.taskId, leaseId: lease.leaseId })
}

test('a task that is created in the commit that frees its slot can be claimed', async () => {
  const { engine, create, claim } = open()
  await create()
  const [held] = await claim()
  await engine.execute('tenant', [{ kind: 'create', task: keyed() }, complete(held!)])
  expect(await claim()).toHaveLength(1)
})

test('a claim is given the slot that its own commit frees, though it was asked first', async () => {
  const { engine, clock, create, claim } = open()
  await create()
  const [held] = await claim()
  await engine.execute('tenant', [{ kind: 'create', task: { ...keyed(), delaySeconds: 1 } }])
  await clock.advance(1_000)
  const [claimed] = await engine.execute('tenant', [claimOf(WORKER), complete(held!)])
  expect(claimed).toMatchObject({ ok: true, reply: { grants: [{ lease: { concurrencyKey: 'one' } }] } })
})

test('a slot that was offered to a task past its deadline goes to the next one', async () => {
  const { clock, run, create, claim } = open()
  await create()
  const [held] = await claim()
  const late = await create({ deadlineAt: clock.now() + 5_000 })
  const next = await create()
  await run(complete(held!))
  await clock.advance(6_000)
  await claim()
  expect((await claim()).map(({ lease }) => lease.taskId)).toEqual([next])
  expect(late).not.toBe(next)
})
