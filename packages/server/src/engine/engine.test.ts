// The engine as a whole: what is done before an answer, and what after it.
import { expect, test } from 'vitest'
import { newTask } from '../../test/simulation/commands.ts'
import { createVirtualClock } from '../../test/virtual-clock.ts'
import { configOf } from '../config.ts'
import { createIds, systemRandom as random } from '../ids.ts'
import { createMemoryStore } from '../store/memory/index.ts'
import { createEngine } from './engine.ts'

const TENANT = 't'
const AGENT = { kind: 'agent', id: 'a' } as const
const actor = { principal: AGENT, sees: 'all' } as const

test('of a long chain of dependents some generations fall before the answer, the rest after it', async () => {
  const clock = createVirtualClock()
  const store = createMemoryStore()
  const parts = { store, clock, random, ids: createIds({ clock, random }), policy: configOf(), instance: 'i' }
  let commits = 0
  const engine = createEngine({
    ...parts,
    onCommitted: () => (commits += 1),
    onError: (error) => expect.fail(String(error)),
  })
  const create = async (dependsOn: string[]) => {
    const task = newTask(AGENT, { dependsOn })
    return (await engine.run<{ taskId: string }>(TENANT, { kind: 'create', task })).taskId
  }
  const chain = [await create([])]
  while (chain.length < 100) chain.push(await create([chain.at(-1)!]))
  commits = 0
  const answered = engine
    .run(TENANT, { kind: 'cancel', actor, taskId: chain[0]!, reason: null })
    .then(() => commits)
  expect(await answered).toBeLessThan(20)
  const last = async () => (await store.readTask(TENANT, chain.at(-1)!))?.state.status
  await expect.poll(last).toBe('canceled')
})
