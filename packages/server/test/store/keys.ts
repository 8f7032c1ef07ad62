// Concurrency keys and capacity: never more than fits, and never less than could run.
import { expect, test } from 'vitest'
import type { Given } from './conformance.ts'
import {
  AGENT,
  claimCommand,
  complete,
  createRig,
  EVERY_TASK,
  fail,
  holding,
  newTask,
  POLICY,
  type Rig,
} from './rig.ts'

async function createKeyed(rig: Rig, tasks: readonly Parameters<typeof newTask>[0][]): Promise<void> {
  await rig.run(
    tasks.map(
      (task) =>
        ({ kind: 'create', task: newTask({ concurrencyKey: 'k', concurrencyLimit: 1, ...task }) }) as const,
    ),
  )
}

export function keys(given: Given): void {
  test('a key lets through as many as its limit, and the next when one ends', async () => {
    const rig = createRig(given().store)
    await createKeyed(
      rig,
      ['a', 'b', 'c', 'd'].map((summary) => ({ summary, concurrencyLimit: 2 })),
    )
    const first = await rig.claim()
    expect(first.map(({ task }) => task.definition.summary)).toEqual(['a', 'b'])
    expect(await rig.store.countActive(rig.tenantId, 'k')).toBe(2)
    expect(await rig.claimed()).toEqual([])
    await rig.ask(complete(first[0]!))
    expect(await rig.claimed()).toEqual(['c'])
    await rig.ask(fail(first[1]!, { retryable: false }))
    expect(await rig.claimed()).toEqual(['d'])
  })

  test('a task created while its key is full waits, and comes when there is room', async () => {
    const rig = createRig(given().store)
    await createKeyed(rig, [{ summary: 'a' }])
    const [a] = await rig.claim()
    await createKeyed(rig, [{ summary: 'b' }, { summary: 'c', priority: 3 }])
    expect(await rig.claimed()).toEqual([])
    await rig.ask({ kind: 'release', ...holding(a!), reason: null })
    expect(await rig.claimed({ max: 1 })).toEqual(['c'])
  })

  test('a free slot is offered to every lane and type that waits for it', async () => {
    const rig = createRig(given().store)
    await createKeyed(rig, [
      { summary: 'first' },
      { summary: 'gpu', capabilities: ['gpu'] },
      { summary: 'x', type: 'x', priority: 5 },
      { summary: 'plain' },
    ])
    const [first] = await rig.claim({ types: ['echo'], max: 1 })
    await rig.claim({ capabilities: ['gpu'] })
    await rig.ask(complete(first!))
    expect(await rig.claimed({ capabilities: ['gpu'], types: ['echo'], max: 1 })).toEqual(['gpu'])
    expect(await rig.claimed()).toEqual([])
  })

  test('tasks of one key with different limits never exceed their own', async () => {
    const rig = createRig(given().store)
    await createKeyed(rig, [
      { summary: 'narrow 1', priority: 1 },
      { summary: 'narrow 2', priority: 1 },
      { summary: 'wide 1', concurrencyLimit: 3 },
      { summary: 'wide 2', concurrencyLimit: 3 },
    ])
    const grants = await rig.claim()
    expect(grants.map(({ task }) => task.definition.summary)).toEqual(['narrow 1', 'wide 1', 'wide 2'])
    await rig.ask(complete(grants[1]!))
    expect(await rig.claimed()).toEqual([])
    await rig.run([complete(grants[0]!), complete(grants[2]!)])
    expect(await rig.claimed()).toEqual(['narrow 2'])
  })

  test('a ready task that is canceled leaves its slot to the next', async () => {
    const rig = createRig(given().store)
    await createKeyed(rig, [{ summary: 'a' }, { summary: 'b' }, { summary: 'c' }])
    const [a] = await rig.claim()
    await rig.ask(complete(a!))
    const tasks = await rig.store.listTasks({ ...EVERY_TASK, tenantId: rig.tenantId, status: 'queued' })
    const b = tasks.find(({ definition }) => definition.summary === 'b')!
    const actor = { principal: AGENT, sees: 'all' } as const
    await rig.ask({ kind: 'cancel', actor, taskId: b.definition.taskId, reason: null })
    expect(await rig.claimed()).toEqual(['c'])
  })

  test('a hidden task under a full key hides nothing behind it', async () => {
    const rig = createRig(given().store)
    await createKeyed(
      rig,
      Array.from({ length: 100 }, () => ({ priority: 1 })),
    )
    await rig.create({ summary: 'free' })
    const seen: (string | null)[] = []
    for (let round = 0; round < 60 && !seen.includes('free'); round++)
      seen.push(...(await rig.claimed({ max: 2 })))
    expect(seen).toContain('free')
    expect(await rig.store.countActive(rig.tenantId, 'k')).toBe(1)
  })

  test('instances that claim and complete at once never exceed a key, and lose no task', async () => {
    const { store, beside } = given()
    const rig = createRig(store)
    await createKeyed(
      rig,
      Array.from({ length: 60 }, (_, index) => ({
        concurrencyKey: `k${index % 3}`,
        concurrencyLimit: 2,
        type: `t${index % 2}`,
      })),
    )
    let done = 0
    const work = async (index: number) => {
      const on = index % 2 ? store : beside
      for (let idle = 0; idle < 60 && done < 60; idle++) {
        const grants = await rig.claim({ worker: { kind: 'worker', id: `w${index}` }, max: 3 }, on)
        for (const key of ['k0', 'k1', 'k2']) {
          expect(await on.countActive(rig.tenantId, key)).toBeLessThanOrEqual(2)
        }
        for (const grant of grants) await rig.ask(complete(grant), on)
        if (grants.length > 0) idle = 0
        done += grants.length
      }
    }
    await Promise.all(Array.from({ length: 6 }, (_, index) => work(index)))
    expect(done).toBe(60)
    expect(await rig.tasks({ status: 'succeeded' })).toHaveLength(60)
  })

  test('a worker’s capacity and the tenant’s bound what a claim is given', async () => {
    const policy = { ...POLICY, claim: { ...POLICY.claim, maxConcurrentLeases: 5 } }
    const rig = createRig(given().store, { policy })
    await rig.run(Array.from({ length: 20 }, () => ({ kind: 'create', task: newTask() }) as const))
    expect(await rig.claim({ capacity: 2 })).toHaveLength(2)
    expect(await rig.claim({ capacity: 2 })).toHaveLength(0)
    const other = { kind: 'worker', id: 'w2' } as const
    expect(await rig.claim({ worker: other })).toHaveLength(3)
    expect(await rig.claim({ worker: other })).toHaveLength(0)
  })

  test('claims of one worker on several instances at once stay within its capacity', async () => {
    const { store, beside } = given()
    const rig = createRig(store)
    await rig.run(Array.from({ length: 40 }, () => ({ kind: 'create', task: newTask() }) as const))
    const claims = Array.from({ length: 8 }, (_, index) =>
      rig.run([claimCommand({ capacity: 5, max: 2 })], index % 2 ? store : beside),
    )
    await Promise.all(claims)
    expect(await rig.tasks({ status: 'leased' })).toHaveLength(5)
  })
}
