// The engine as a whole: what is done before an answer, and what after it.
import { GateError } from '@asyncgate/sdk'
import { expect, test } from 'vitest'
import { claimOf, newTask } from '../../test/simulation/commands.ts'
import { createVirtualClock } from '../../test/virtual-clock.ts'
import { configOf } from '../config.ts'
import { createIds, systemRandom as random } from '../ids.ts'
import { createMemoryStore } from '../store/memory/index.ts'
import type { NewTask } from './command.ts'
import { type Claimed, decideBatch, type Result } from './decide/index.ts'
import { createEngine, type EngineParts } from './engine.ts'

const TENANT = 't'
const AGENT = { kind: 'agent', id: 'a' } as const
const actor = { principal: AGENT, sees: 'all' } as const

/** An engine on a store in memory, and how many commits it has made. */
function scene(over: Partial<EngineParts> = {}) {
  const clock = createVirtualClock()
  const store = createMemoryStore()
  const parts = { store, clock, random, ids: createIds({ clock, random }), policy: configOf(), instance: 'i' }
  let commits = 0
  const engine = createEngine({
    ...parts,
    onCommitted: () => (commits += 1),
    onError: (error) => expect.fail(String(error)),
    ...over,
  })
  const create = async (over: Partial<NewTask> = {}) => {
    const task = newTask(AGENT, over)
    return (await engine.run<{ taskId: string }>(TENANT, { kind: 'create', task })).taskId
  }
  const counting = async (work: () => Promise<unknown>) => {
    const before = commits
    await work()
    return commits - before
  }
  return { clock, store, engine, create, counting }
}

/** Waits for one task of its type; the ids of what it is given, once it is. */
function waiting({ engine }: ReturnType<typeof scene>, type: string): Promise<string[]> {
  const worker = { kind: 'worker', id: 'w' } as const
  const command = claimOf(worker, { acceptTypes: [type], maxTasks: 1 })
  const grants = engine.claim(TENANT, command, { waitMs: 60_000, signal: new AbortController().signal })
  return grants.then((given) => given.map(({ task }) => task.definition.taskId))
}

test('a task is granted to a worker who waits for it in the commit that creates it', async () => {
  const on = scene()
  const [claimed, other] = [waiting(on, 'wanted'), waiting(on, 'other')]
  await expect.poll(() => on.engine.waitingClaims()).toBe(2)
  let taskId = ''
  const commits = await on.counting(async () => (taskId = await on.create({ type: 'wanted' })))
  expect([commits, await claimed]).toEqual([1, [taskId]])
  expect((await on.store.readTask(TENANT, taskId))?.state.status).toBe('leased')
  expect(on.engine.waitingClaims()).toBe(1)
  const next = await on.create({ type: 'other' })
  expect(await other).toEqual([next])
})

test('a worker who left while its claim rode with a commit does not keep what it was given', async () => {
  const on = scene()
  const leaving = new AbortController()
  const command = claimOf({ kind: 'worker', id: 'w' }, { acceptTypes: ['wanted'], maxTasks: 1 })
  const claimed = on.engine.claim(TENANT, command, { waitMs: 60_000, signal: leaving.signal })
  await expect.poll(() => on.engine.waitingClaims()).toBe(1)
  const created = on.create({ type: 'wanted' })
  leaving.abort()
  const taskId = await created
  expect(await claimed).toEqual([])
  const status = async () => (await on.store.readTask(TENANT, taskId))?.state.status
  await expect.poll(status).toBe('queued')
})

test('a claim is given what its own commit creates, though it was asked first, and whoever waited comes before it', async () => {
  const on = scene()
  const claimed = waiting(on, 'wanted')
  await expect.poll(() => on.engine.waitingClaims()).toBe(1)
  const claim = claimOf({ kind: 'worker', id: 'v' }, { acceptTypes: ['wanted'], maxTasks: 10 })
  const create = { kind: 'create', task: newTask(AGENT, { type: 'wanted' }) } as const
  const [given, first, second] = await on.engine.execute(TENANT, [claim, create, create])
  expect([first, second]).toMatchObject([{ ok: true }, { ok: true }])
  expect([await claimed, grantsOf(given!)]).toEqual([[taskIdOf(first!)], [taskIdOf(second!)]])
})

test.each([
  [true, 'does not look'],
  [false, 'looks'],
])('a claim that is known to find nothing, on an instance that is alone: %s, %s', async (isAlone) => {
  const { on, looked } = await watchingScene(isAlone)
  const claim = claimOf({ kind: 'worker', id: 'v' }, { acceptTypes: ['other'] })
  const create = { kind: 'create', task: newTask(AGENT, { type: 'other' }) } as const
  await on.engine.execute(TENANT, [claim])
  const [made, given] = await on.engine.execute(TENANT, [create, claim])
  expect(grantsOf(given!)).toEqual([taskIdOf(made!)])
  await on.engine.execute(TENANT, [create]) // nobody takes it, so that there is something
  const [found] = await on.engine.execute(TENANT, [claim])
  expect(grantsOf(found!)).toHaveLength(1)
  expect(looked.slice(0, 2)).toEqual([1, isAlone ? 0 : 1])
})

test('a claim that found something says nothing of what else there is', async () => {
  const { on, looked } = await watchingScene(true)
  await on.create({ type: 'other' })
  const claim = claimOf({ kind: 'worker', id: 'v' }, { acceptTypes: ['other'], maxTasks: 10 })
  for (const count of [1, 0, 0]) {
    const [given] = await on.engine.execute(TENANT, [claim])
    expect(grantsOf(given!)).toHaveLength(count)
  }
  expect(looked.slice(-3)).toEqual([1, 1, 0])
})

test('what was created by a commit whose answer was lost is looked for', async () => {
  const store = createMemoryStore()
  let isLost = false
  const on = scene({
    store: {
      ...store,
      isAlone: () => true,
      transact: async (unit) => {
        const result = await store.transact(unit)
        if (isLost) throw new GateError('database_unavailable', 'lost')
        return result
      },
    },
  })
  void waiting(on, 'wanted')
  await expect.poll(() => on.engine.waitingClaims()).toBe(1)
  const claim = claimOf({ kind: 'worker', id: 'v' }, { acceptTypes: ['other'] })
  await on.engine.execute(TENANT, [claim]) // finds nothing, which is known from then on
  isLost = true
  await expect(on.create({ type: 'other' })).rejects.toThrow('lost')
  isLost = false
  const [given] = await on.engine.execute(TENANT, [claim])
  expect(grantsOf(given!)).toHaveLength(1)
})

/** How many kinds of claims each commit looked for. Somebody waits, and so gets to know when the next delay ends. */
async function watchingScene(isAlone: boolean) {
  const looked: number[] = []
  const store = createMemoryStore()
  const on = scene({
    store: {
      ...store,
      isAlone: () => isAlone,
      transact: (unit) => (looked.push(unit.needs.claims.length), store.transact(unit)),
    },
  })
  void waiting(on, 'wanted')
  await expect.poll(() => on.engine.waitingClaims()).toBe(1)
  looked.length = 0
  return { on, looked }
}

function grantsOf(result: Result): string[] {
  if (!result.ok) throw result.error
  return (result.reply as Claimed).grants.map(({ task }) => task.definition.taskId) // the reply of a claim
}

function taskIdOf(result: Result): string {
  if (!result.ok) throw result.error
  return (result.reply as { taskId: string }).taskId // the reply of a creation
}

test('a claim that cannot be decided costs the creation that it rides with nothing', async () => {
  const refused = new GateError('receipt_too_large', 'too large')
  const errors: unknown[] = []
  const trouble = {
    refusal: (results: readonly Result[], isClaim: (at: number) => boolean) =>
      results.map((result, at) => (isClaim(at) ? { ok: false as const, error: refused } : result)),
    defect: () => {
      throw new Error('a defect')
    },
  }
  for (const meet of Object.values(trouble)) {
    let broken = false
    const on = scene({
      onError: (error) => errors.push(error),
      decide: (snapshot, commands, context) => {
        const decision = decideBatch(snapshot, commands, context)
        const isClaim = (at: number) => commands[at]!.kind === 'claim'
        if (!broken || !commands.some((_, at) => isClaim(at))) return decision
        return { ...decision, result: meet(decision.result, isClaim) }
      },
    })
    void waiting(on, 'wanted')
    await expect.poll(() => on.engine.waitingClaims()).toBe(1)
    broken = true
    const taskId = await on.create({ type: 'wanted' })
    expect(await on.store.readTask(TENANT, taskId)).not.toBeNull()
    expect([errors.length > 0, on.engine.waitingClaims()]).toEqual([true, 1])
    errors.length = 0
  }
})

test('of a long chain of dependents some generations fall before the answer, the rest after it', async () => {
  const { engine, store, create, counting } = scene()
  const chain = [await create()]
  while (chain.length < 100) chain.push(await create({ dependsOn: [chain.at(-1)!] }))
  const cancel = () => engine.run(TENANT, { kind: 'cancel', actor, taskId: chain[0]!, reason: null })
  expect(await counting(cancel)).toBeLessThan(20)
  const last = async () => (await store.readTask(TENANT, chain.at(-1)!))?.state.status
  await expect.poll(last).toBe('canceled')
})
