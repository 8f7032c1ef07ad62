// Units of work: all or nothing, once, whatever goes on beside them.
import { expect, test } from 'vitest'
import { NO_CHANGES, NO_NEEDS } from '../no-changes.ts'
import type { Given } from './conformance.ts'
import { AGENT, claimCommand, complete, createRig, holding, newTask, WORKER } from './rig.ts'

export function units(given: Given): void {
  test('a task comes back as it was made, with every member', async () => {
    const rig = createRig(given().store)
    const first = await rig.create({ summary: 'parent' })
    const wanted = newTask({
      type: 'report.render',
      payload: { b: 1, a: [null, true, 'é "quoted" \\ \n', { deep: 1.5e-7 }], z: null },
      payloadPointer: 's3:bucket/key',
      summary: 'everything',
      recipient: { kind: 'human', id: 'grace' },
      capabilities: ['GPU', 'cuda'],
      tags: ['nightly', 'eu'],
      priority: -7,
      maxAttempts: 5,
      retryBackoffSeconds: 0,
      maxExpiries: 0,
      idempotencyKey: 'key',
      parentTaskId: first.taskId,
      causedByReceiptId: first.receiptId,
      concurrencyKey: 'printer',
      concurrencyLimit: 2,
      timeoutSeconds: 60,
      deadlineAt: rig.now() + 1_000_000,
      dependsOn: [first.taskId],
      onDependencyFailure: 'run',
      expectedOutcomeKind: 'file',
      expectedArtifactMime: 'text/plain',
      successCriteria: { pages: 3 },
      resultDelivery: 'inline',
      metadata: { traceparent: '00-1' },
    })
    const made = await rig.ask<{ taskId: string; receiptId: string }>({ kind: 'create', task: wanted })
    const { delaySeconds: _delay, notBefore: _notBefore, ...kept } = wanted
    const task = (await rig.store.readTask(rig.tenantId, made.taskId))!
    expect(task.definition).toMatchObject({ ...kept, assignedReceiptId: made.receiptId, instance: 'test' })
    expect(Object.keys(task.definition.payload)).toEqual(['b', 'a', 'z'])
    expect(task).toMatchObject({
      state: { status: 'queued', place: 'waiting', result: null },
      lease: null,
      progress: null,
    })
  })

  test('a bare task comes back with what was left out', async () => {
    const rig = createRig(given().store)
    const { taskId } = await rig.create()
    const { definition } = (await rig.store.readTask(rig.tenantId, taskId))!
    const {
      delaySeconds: _delay,
      notBefore: _notBefore,
      maxAttempts: _a,
      maxExpiries: _e,
      ...bare
    } = newTask()
    expect(definition).toMatchObject({ ...bare, retryBackoffSeconds: 30 })
    expect(definition).toMatchObject({
      maxAttempts: 3,
      maxExpiries: 20,
      idempotencyHash: null,
      requestHash: null,
      lane: '',
    })
  })

  test('what fails to be decided leaves nothing', async () => {
    const rig = createRig(given().store)
    const broken = rig.store.transact({
      tenantId: rig.tenantId,
      now: rig.now(),
      needs: NO_NEEDS,
      decide: () => {
        throw new Error('a defect')
      },
    })
    await expect(broken).rejects.toThrow('a defect')
    await rig.create({ summary: 'next' })
    expect(await rig.tasks()).toEqual(['next'])
  })

  test('a unit sees only its own tenant', async () => {
    const [ours, theirs] = [createRig(given().store), createRig(given().store)]
    const { taskId, receiptId } = await ours.create({ idempotencyKey: 'k' })
    expect(await theirs.store.readTask(theirs.tenantId, taskId)).toBeNull()
    expect(await theirs.store.readReceipt(theirs.tenantId, receiptId)).toBeNull()
    expect(await theirs.store.dischargedBy(theirs.tenantId, receiptId)).toBeUndefined()
    expect(await theirs.claim()).toEqual([])
    expect(await theirs.create({ idempotencyKey: 'k' })).toMatchObject({ isDuplicate: false })
    const cancel = { kind: 'cancel', actor: { principal: AGENT, sees: 'all' }, taskId, reason: null } as const
    await expect(theirs.ask(cancel)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('an id that is none is one that names nothing', async () => {
    const rig = createRig(given().store)
    const [grant] = (await rig.create(), await rig.claim())
    const cancel = {
      kind: 'cancel',
      actor: { principal: AGENT, sees: 'all' },
      taskId: 'x',
      reason: null,
    } as const
    await expect(rig.ask(cancel)).rejects.toMatchObject({ code: 'not_found' })
    const start = { kind: 'start', ...holding(grant!), leaseId: 'no lease' } as const
    await expect(rig.ask(start)).rejects.toMatchObject({ code: 'lease_invalid_or_expired' })
    expect(await rig.store.readTask(rig.tenantId, 'x')).toBeNull()
    expect(await rig.store.readReceipts(rig.tenantId, ['x', ''])).toEqual([])
    expect(await rig.receipts({ taskId: 'x' })).toEqual([])
  })

  test('20 units with one idempotency key at once make one task and one receipt', async () => {
    const { store, beside } = given()
    const rig = createRig(store)
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        rig.create({ idempotencyKey: 'once' }, index % 2 ? store : beside),
      ),
    )
    expect(new Set(made.map(({ taskId }) => taskId)).size).toBe(1)
    expect(made.filter(({ isDuplicate }) => !isDuplicate)).toHaveLength(1)
    expect(await rig.receipts()).toEqual(['task.assigned'])
  })

  test('units that repeat each other in opposite order all end', async () => {
    const { store, beside } = given()
    const rig = createRig(store)
    const names = Array.from({ length: 10 }, (_, index) => `key ${index}`)
    const commands = names.map(
      (idempotencyKey) => ({ kind: 'create', task: newTask({ idempotencyKey }) }) as const,
    )
    await Promise.all([
      rig.run(commands, store),
      rig.run(commands.toReversed(), beside),
      rig.run(commands, beside),
    ])
    expect(await rig.tasks()).toHaveLength(10)
  })

  test('a task has one active lease, and the store itself holds that', async () => {
    const rig = createRig(given().store)
    await rig.create()
    const [grant] = await rig.claim()
    const second = { ...grant!.lease, leaseId: '019b76da-0000-7000-8000-000000000001' }
    const forged = rig.store.transact({
      tenantId: rig.tenantId,
      now: rig.now(),
      needs: { ...NO_NEEDS, taskIds: new Set([second.taskId]) },
      decide: () => {
        const before = {
          ...grant!.task,
          state: { ...grant!.task.state, status: 'queued', place: 'ready' },
        } as const
        const changes = {
          ...NO_CHANGES,
          changedTasks: [{ before, after: grant!.task }],
          grantedLeases: [second],
        }
        return { changes, result: null }
      },
    })
    await expect(forged).rejects.toThrow()
    expect(await rig.ask(complete(grant!))).toMatchObject({ status: 'succeeded' })
  })

  test('a lease that ends and the next one of the same task fit into one unit', async () => {
    const rig = createRig(given().store)
    await rig.create()
    const [grant] = await rig.claim()
    const results = await rig.run([{ kind: 'release', ...holding(grant!), reason: null }])
    expect(results[0]).toMatchObject({ ok: true })
    const [again] = await rig.claim()
    expect(again).toMatchObject({
      lease: { fence: 2, worker: WORKER },
      task: { state: { status: 'leased', fence: 2 } },
    })
  })

  test('one unit creates and claims: what it creates is granted too, in its order among the rest', async () => {
    const rig = createRig(given().store)
    await rig.create({ summary: 'before' })
    const [, urgent, , claimed] = await rig.run([
      { kind: 'create', task: newTask({ summary: 'last' }) },
      { kind: 'create', task: newTask({ summary: 'urgent', priority: 1 }) },
      { kind: 'create', task: newTask({ summary: 'foreign', type: 'other' }) },
      claimCommand({ types: ['echo'], max: 3 }),
    ])
    const summaries = ['urgent', 'before', 'last'].map((summary) => ({ task: { definition: { summary } } }))
    expect(urgent).toMatchObject({ ok: true, reply: { status: 'queued' } })
    expect(claimed).toMatchObject({ ok: true, reply: { grants: summaries } })
    expect(new Set(await rig.tasks({ status: 'leased' }))).toEqual(new Set(['before', 'last', 'urgent']))
    expect(await rig.tasks({ status: 'queued' })).toEqual(['foreign'])
    expect(await rig.claimed()).toEqual(['foreign'])
  })

  test('a payload of a mebibyte comes back whole', async () => {
    const rig = createRig(given().store)
    const payload = { text: 'ä'.repeat(500_000) }
    const { taskId } = await rig.create({ payload })
    expect((await rig.store.readTask(rig.tenantId, taskId))!.definition.payload).toEqual(payload)
  })

  test('progress is a numbered history, and the last report is the task’s', async () => {
    const rig = createRig(given().store)
    const { taskId } = await rig.create()
    const [grant] = await rig.claim()
    const report = (percent: number) =>
      ({ kind: 'progress', ...holding(grant!), progress: { percent } }) as const
    await rig.run([report(10), report(20)])
    await rig.run([report(30)])
    const all = await rig.store.listProgress({ tenantId: rig.tenantId, taskId, after: null, limit: 10 })
    expect(all.map(({ position, progress }) => [position, progress])).toEqual([
      [1, { percent: 10 }],
      [2, { percent: 20 }],
      [3, { percent: 30 }],
    ])
    expect(all[0]).toMatchObject({ taskId, workerId: WORKER.id, fence: 1, reportedAt: rig.now() })
    const page = await rig.store.listProgress({ tenantId: rig.tenantId, taskId, after: 1, limit: 1 })
    expect(page.map(({ position }) => position)).toEqual([2])
    expect((await rig.store.readTask(rig.tenantId, taskId))!.progress).toEqual({ percent: 30 })
  })

  test('a principal’s sessions are told by instance, or by half an hour of silence', async () => {
    const rig = createRig(given().store)
    const greet = (instanceId: string | null) => ({ kind: 'greet', principal: AGENT, instanceId }) as const
    const sessions = async () => (await rig.store.readRelationship(rig.tenantId, AGENT))?.sessionsCount
    expect(await rig.store.readRelationship(rig.tenantId, AGENT)).toBeNull()
    await rig.ask(greet('a'))
    await rig.ask(greet('a'))
    expect(await sessions()).toBe(1)
    await rig.run([greet('b'), greet('b'), greet('c')])
    expect(await sessions()).toBe(3)
    rig.pass(30 * 60_000)
    await rig.ask(greet(null))
    expect(await sessions()).toBe(3)
    rig.pass(30 * 60_000 + 1)
    await rig.run([greet(null), greet(null)])
    expect(await sessions()).toBe(4)
    await rig.ask(greet('c'))
    expect(await rig.store.readRelationship(rig.tenantId, AGENT)).toMatchObject({
      principal: AGENT,
      firstSeenAt: rig.now() - 60 * 60_000 - 1,
      lastSeenAt: rig.now(),
      sessionsCount: 4,
    })
  })

  test('it says how durable it is, answers a ping, and has nothing left to migrate', async () => {
    const { store } = given()
    await store.ping()
    expect(['full', 'reduced', 'none']).toContain((await store.durability()).level)
    expect(await store.pendingMigrations()).toEqual([])
    expect(await store.migrate()).toEqual([])
  })
}
