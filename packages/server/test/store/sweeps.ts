// What services look for: lost leases, timers, dependents. Found across tenants, decided again under the
// lock.
import { expect, test } from 'vitest'
import type { Grant } from '../../src/engine/decide/index.ts'
import type { Given } from './conformance.ts'
import { complete, createRig, fail, holding, newTask, type Rig } from './rig.ts'

/** The finders look at all tenants; a test looks at its own. */
async function due(rig: Rig) {
  const own = <T extends { tenantId: string }>(found: readonly T[]) =>
    found.filter(({ tenantId }) => tenantId === rig.tenantId)
  return {
    leases: own(await rig.store.dueLeases(rig.now(), 10_000)),
    timers: own(await rig.store.dueTimers(rig.now(), 10_000)),
    dependents: own(await rig.store.dueDependents(10_000)),
  }
}

export function sweeps(given: Given): void {
  test('a lease is due from its end on, and no longer once it was swept', async () => {
    const rig = createRig(given().store)
    const { taskId } = await rig.create()
    const [{ lease }] = (await rig.claim({ ttlSeconds: 10 })) as [Grant]
    rig.pass(9_999)
    expect((await due(rig)).leases).toEqual([])
    rig.pass(1)
    const expire = { tenantId: rig.tenantId, taskId, leaseId: lease.leaseId }
    expect((await due(rig)).leases).toEqual([expire])
    expect(await rig.ask({ kind: 'expire', ...expire })).toBe('expired')
    expect((await due(rig)).leases).toEqual([])
    expect(await rig.ask({ kind: 'expire', ...expire })).toBeNull()
    rig.pass(5_000)
    expect(await rig.claim()).toMatchObject([{ task: { state: { expiries: 1, attempt: 0, fence: 2 } } }])
  })

  test('leases that were due by a given time can be left out', async () => {
    const rig = createRig(given().store)
    await rig.create()
    const [{ lease }] = (await rig.claim({ ttlSeconds: 10 })) as [Grant]
    rig.pass(20_000)
    const dueAfter = async (after: number) =>
      (await rig.store.dueLeases(rig.now(), 10_000, after)).filter(({ leaseId }) => leaseId === lease.leaseId)
    expect(await dueAfter(lease.expiresAt - 1)).toHaveLength(1)
    expect(await dueAfter(lease.expiresAt)).toEqual([])
  })

  test('a renewed lease is looked at once more, and then at its new end', async () => {
    const rig = createRig(given().store)
    const { taskId } = await rig.create()
    const [grant] = await rig.claim({ ttlSeconds: 10 })
    rig.pass(5_000)
    await rig.ask({ kind: 'renew', ...holding(grant!), extendBySeconds: 60 })
    expect((await rig.store.readTask(rig.tenantId, taskId))?.lease).toMatchObject({ renewals: 1 })
    rig.pass(5_000)
    const [found] = (await due(rig)).leases
    expect(await rig.ask({ kind: 'expire', ...found! })).toBeNull()
    expect((await due(rig)).leases).toEqual([])
    rig.pass(55_000)
    expect((await due(rig)).leases).toHaveLength(1)
  })

  test('two instances that sweep the same lease expire it once', async () => {
    const { store, beside } = given()
    const rig = createRig(store)
    await rig.run(Array.from({ length: 30 }, () => ({ kind: 'create', task: newTask() }) as const))
    await rig.claim({ ttlSeconds: 10 })
    rig.pass(10_000)
    const { leases } = await due(rig)
    expect(leases).toHaveLength(30)
    const sweep = leases.map((lease) => ({ kind: 'expire', ...lease }) as const)
    await Promise.all([rig.run(sweep, store), rig.run(sweep.toReversed(), beside)])
    expect(await rig.receipts({ receiptType: 'lease.expired' })).toHaveLength(30)
  })

  test('a deadline is a timer, and is gone once it fired', async () => {
    const rig = createRig(given().store)
    const { taskId } = await rig.create({ deadlineAt: rig.now() + 1_000 })
    expect((await due(rig)).timers).toEqual([])
    rig.pass(1_000)
    expect((await due(rig)).timers).toEqual([{ tenantId: rig.tenantId, taskId, kind: 'deadline' }])
    expect(await rig.ask({ kind: 'deadline', taskId })).toBe('deadline')
    expect((await due(rig)).timers).toEqual([])
    expect((await rig.store.readTask(rig.tenantId, taskId))?.state).toMatchObject({
      status: 'failed',
      place: 'none',
    })
    expect(await rig.claimed()).toEqual([])
  })

  test('a completion without a place is looked at a day later', async () => {
    const rig = createRig(given().store)
    const { taskId, receiptId } = await rig.create()
    const [grant] = await rig.claim()
    await rig.ask({ ...complete(grant!), storeResult: false } as ReturnType<typeof complete>)
    rig.pass(24 * 60 * 60_000)
    expect((await due(rig)).timers).toEqual([{ tenantId: rig.tenantId, taskId, kind: 'unlinkable' }])
    expect(await rig.ask({ kind: 'unlinkable', taskId, assignedReceiptId: receiptId })).toBe('raised')
    expect((await due(rig)).timers).toEqual([])
  })

  test('dependents wait until all they depend on have succeeded', async () => {
    const rig = createRig(given().store)
    const [one, two] = [await rig.create({ summary: 'one' }), await rig.create({ summary: 'two' })]
    const dependsOn = [one.taskId, two.taskId]
    const { taskId } = await rig.create({ summary: 'after', dependsOn })
    const grants = await rig.claim()
    expect(grants).toHaveLength(2)
    await rig.ask(complete(grants[0]!))
    expect(await rig.store.dependentsOf(rig.tenantId, [one.taskId])).toEqual([
      { tenantId: rig.tenantId, taskId, dependsOn },
    ])
    expect(await rig.ask({ kind: 'resolve', taskId, dependsOn })).toBeNull()
    expect(await rig.claimed()).toEqual([])
    await rig.ask(complete(grants[1]!))
    expect((await due(rig)).dependents).toEqual([{ tenantId: rig.tenantId, taskId, dependsOn }])
    expect(await rig.ask({ kind: 'resolve', taskId, dependsOn })).toBe('eligible')
    expect((await due(rig)).dependents).toEqual([])
    expect(await rig.store.dependentsOf(rig.tenantId, dependsOn)).toEqual([])
    expect(await rig.claimed()).toEqual(['after'])
  })

  test('one dependency that failed is enough', async () => {
    const rig = createRig(given().store)
    const [one, two] = [await rig.create(), await rig.create()]
    const dependsOn = [one.taskId, two.taskId]
    const { taskId } = await rig.create({ dependsOn })
    const [grant] = await rig.claim({ max: 1 })
    await rig.ask(fail(grant!, { retryable: false }))
    expect((await due(rig)).dependents).toEqual([{ tenantId: rig.tenantId, taskId, dependsOn }])
    expect(await rig.ask({ kind: 'resolve', taskId, dependsOn })).toBe('canceled')
    expect((await due(rig)).dependents).toEqual([])
  })

  test('a dependency that ends while its dependent is made is never missed', async () => {
    const { store, beside } = given()
    const rig = createRig(store)
    const on = await Promise.all(Array.from({ length: 10 }, () => rig.create()))
    const grants = await rig.claim()
    await Promise.all([
      ...grants.map((grant) => rig.ask(complete(grant), beside)),
      ...on.map(({ taskId }) => rig.create({ dependsOn: [taskId], summary: 'after' }, store)),
    ])
    const found = await rig.store.dependentsOf(
      rig.tenantId,
      on.map(({ taskId }) => taskId),
    )
    await rig.run(found.map(({ taskId, dependsOn }) => ({ kind: 'resolve', taskId, dependsOn }) as const))
    expect(await rig.claimed()).toEqual(Array.from({ length: 10 }, () => 'after'))
  })
}
