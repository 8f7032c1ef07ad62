// Dependencies: a task waits for others, runs when they have succeeded, and falls with them.
import { expect } from 'vitest'
import { iso } from '../../src/clock.ts'
import { verifies } from '../requirements.ts'
import { type Bench, onEveryStore, openBench } from './harness.ts'
import {
  BY_HAND,
  claim,
  claimedIds,
  claimOne,
  create,
  createId,
  ERROR,
  held,
  type Leased,
  loseLease,
  receiptTypes,
  task,
} from './scenes.ts'

const succeed = (bench: Bench, lease: Leased) =>
  bench.call('complete', { ...held(lease), store_result: true })
const failForGood = (bench: Bench, lease: Leased) =>
  bench.call('fail', { ...held(lease), error: ERROR, retryable: false })
/** Of a type of its own, so that it can be claimed apart from what depends on it. */
const first = (bench: Bench) => createId(bench, { type: 'first' })
const claimFirst = (bench: Bench) => claimOne(bench, { accept_types: ['first'] })

onEveryStore('dependencies', (open, _kind, store) => {
  verifies('TASK-6', 'a long chain falls to its end, also beyond what falls before the answer', async () => {
    const bench = await open(BY_HAND)
    const chain = [await first(bench)]
    for (let link = 0; link < 30; link += 1)
      chain.push(await createId(bench, { depends_on: [chain.at(-1)!] }))
    const last = chain.at(-1)!
    await bench.call('cancelTask', { task_id: chain[0]! })
    expect(await task(bench, chain[1]!)).toMatchObject({ status: 'canceled' })
    await expect.poll(async () => (await task(bench, last)).status).toBe('canceled')
  })

  verifies('TASK-6', 'a task is not eligible until all that it depends on have succeeded', async () => {
    const bench = await open(BY_HAND)
    const on = [await first(bench), await first(bench)]
    const taskId = await createId(bench, { depends_on: on })
    expect(await task(bench, taskId)).toMatchObject({ status: 'queued', depends_on: on })
    const leases = await claim(bench, { max_tasks: 10 })
    expect(leases.map((lease) => lease.task_id)).toEqual(on)
    await succeed(bench, leases[0]!)
    expect(await claim(bench)).toEqual([])
    await succeed(bench, leases[1]!)
    expect(await claimedIds(bench)).toEqual([taskId])
  })

  verifies('TASK-6', 'two dependencies that end in one commit free the task once', async () => {
    const bench = await open(BY_HAND)
    const taskId = await createId(bench, { depends_on: [await first(bench), await first(bench)] })
    const leases = await claim(bench, { max_tasks: 10 })
    await bench.call('settle', {
      worker_id: 'w-1',
      outcomes: leases.map(({ task_id, lease_id }) => ({ task_id, lease_id, action: 'complete' })),
    })
    expect(await claimedIds(bench, { max_tasks: 10 })).toEqual([taskId])
  })

  verifies(
    'TASK-6',
    'a task whose dependencies have succeeded before it was made is eligible at once',
    async () => {
      const bench = await open(BY_HAND)
      const on = await first(bench)
      await succeed(bench, await claimFirst(bench))
      const taskId = await createId(bench, { depends_on: [on, on] })
      expect((await task(bench, taskId)).depends_on).toEqual([on])
      expect(await claimedIds(bench)).toEqual([taskId])
    },
  )

  verifies('TASK-6', 'a task is canceled when a dependency fails', async () => {
    const bench = await open(BY_HAND)
    const on = await first(bench)
    const taskId = await createId(bench, { depends_on: [on, await first(bench)] })
    await failForGood(bench, await claimFirst(bench))
    expect(await task(bench, taskId)).toMatchObject({
      status: 'canceled',
      dead_letter: false,
      result: { outcome: 'canceled', error: { code: 'dependency_failed', dependency: on } },
    })
    const receipts = await bench.receipts(taskId)
    expect(receipts.map((receipt) => receipt.receipt_type)).toEqual([
      'task.assigned',
      'task.canceled',
      'task.result_ready',
    ])
    expect(receipts[1]).toMatchObject({
      from: { kind: 'system', id: 'asyncgate' },
      parents: [receipts[0]!.receipt_id],
      body: { reason: 'dependency_failed', dependency: on, dependency_status: 'failed' },
    })
  })

  verifies('TASK-6', 'a task is canceled when a dependency is canceled', async () => {
    const bench = await open(BY_HAND)
    const on = await first(bench)
    const taskId = await createId(bench, { depends_on: [on] })
    await bench.call('cancelTask', { task_id: on })
    expect(await task(bench, taskId)).toMatchObject({
      status: 'canceled',
      result: { error: { code: 'dependency_failed', dependency_status: 'canceled' } },
    })
  })

  verifies('TASK-6', 'a cancellation runs through the whole chain', async () => {
    const bench = await open(BY_HAND)
    const chain = [await first(bench)]
    for (let count = 0; count < 5; count++) chain.push(await createId(bench, { depends_on: [chain.at(-1)!] }))
    await bench.call('cancelTask', { task_id: chain[0]! })
    for (const taskId of chain.slice(1)) {
      expect((await task(bench, taskId)).status).toBe('canceled')
      expect(await receiptTypes(bench, taskId)).toEqual([
        'task.assigned',
        'task.canceled',
        'task.result_ready',
      ])
    }
    const { open_obligations } = await bench.call('openObligations', {})
    expect(open_obligations).toEqual([])
  })

  verifies('TASK-6', 'a diamond comes together once', async () => {
    const bench = await open(BY_HAND)
    const top = await first(bench)
    const sides = [
      await createId(bench, { type: 'first', depends_on: [top] }),
      await createId(bench, { type: 'first', depends_on: [top] }),
    ]
    const bottom = await createId(bench, { depends_on: sides })
    await succeed(bench, await claimFirst(bench))
    for (const lease of await claim(bench, { max_tasks: 10 })) await succeed(bench, lease)
    expect(await claimedIds(bench, { max_tasks: 10 })).toEqual([bottom])
  })

  verifies('TASK-6', 'a task that runs all the same waits for all to end, however they end', async () => {
    const bench = await open(BY_HAND)
    const on = [await first(bench), await first(bench), await first(bench)]
    const taskId = await createId(bench, { depends_on: on, on_dependency_failure: 'run' })
    const [one, two] = await claim(bench, { max_tasks: 2 })
    await failForGood(bench, one!)
    await succeed(bench, two!)
    expect(await claim(bench, { accept_types: ['work'] })).toEqual([])
    await bench.call('cancelTask', { task_id: on[2]! })
    expect(await claimedIds(bench)).toEqual([taskId])
  })

  verifies('TASK-6', 'a task whose dependency had failed before is canceled as it is made', async () => {
    const bench = await open(BY_HAND)
    const on = await first(bench)
    await failForGood(bench, await claimFirst(bench))
    const reply = await create(bench, { depends_on: [on] })
    expect(reply.status).toBe('canceled')
    expect(await receiptTypes(bench, reply.task_id)).toEqual([
      'task.assigned',
      'task.canceled',
      'task.result_ready',
    ])
    expect(await claim(bench)).toEqual([])
  })

  verifies(
    'TASK-6',
    'a task that runs all the same is eligible if its dependency had failed before',
    async () => {
      const bench = await open(BY_HAND)
      const on = await first(bench)
      await failForGood(bench, await claimFirst(bench))
      const taskId = await createId(bench, { depends_on: [on], on_dependency_failure: 'run' })
      expect(await claimedIds(bench)).toEqual([taskId])
    },
  )

  verifies('TASK-6', 'a failure that is tried again, and a lost lease, cancel nothing', async () => {
    const bench = await open(BY_HAND)
    await first(bench)
    const [on] = (await bench.call('listTasks', {})).tasks
    const taskId = await createId(bench, { depends_on: [on!.task_id] })
    await bench.call('fail', { ...held(await claimFirst(bench)), error: ERROR, retry_after_seconds: 0 })
    await claimFirst(bench)
    await loseLease(bench)
    expect((await task(bench, taskId)).status).toBe('queued')
    await succeed(bench, await claimFirst(bench))
    expect(await claimedIds(bench)).toEqual([taskId])
  })

  verifies(['TASK-6', 'TASK-3'], 'a delay counts also for a task that has waited for others', async () => {
    const bench = await open(BY_HAND)
    const on = await first(bench)
    const taskId = await createId(bench, { depends_on: [on], delay_seconds: 60 })
    await succeed(bench, await claimFirst(bench))
    await bench.clock.advance(59_999)
    expect(await claim(bench)).toEqual([])
    await bench.clock.advance(1)
    expect(await claimedIds(bench)).toEqual([taskId])
  })

  verifies(
    ['TASK-6', 'TASK-4'],
    'a deadline ends a task that still waits, and what depends on it',
    async () => {
      const bench = await open(BY_HAND)
      const on = await first(bench)
      const deadline_at = iso(bench.clock.now() + 60_000)
      const taskId = await createId(bench, { depends_on: [on], deadline_at })
      const last = await createId(bench, { depends_on: [taskId] })
      await bench.clock.advance(60_000)
      await bench.gate.sweep()
      expect((await task(bench, taskId)).status).toBe('failed')
      expect((await task(bench, last)).status).toBe('canceled')
      await succeed(bench, await claimFirst(bench))
      expect(await claim(bench)).toEqual([])
    },
  )

  verifies(['TASK-6', 'STATE-2'], 'a task that was canceled while it waited stays so', async () => {
    const bench = await open(BY_HAND)
    const on = await first(bench)
    const taskId = await createId(bench, { depends_on: [on] })
    await bench.call('cancelTask', { task_id: taskId })
    const before = await task(bench, taskId)
    await succeed(bench, await claimFirst(bench))
    await bench.gate.sweep()
    expect(await claim(bench)).toEqual([])
    expect(await task(bench, taskId)).toEqual(before)
  })

  verifies('TASK-6', 'a task depends on at most 100 others', async () => {
    const bench = await open(BY_HAND)
    const { tasks } = await bench.call('createTasks', {
      tasks: Array.from({ length: 101 }, () => ({ type: 'first' })),
    })
    const ids = tasks.map((reply) => (reply as { task_id: string }).task_id)
    const refusal = await bench.refusal('createTask', { type: 'work', depends_on: ids })
    expect(refusal).toMatchObject({ code: 'invalid_input', details: { field: 'depends_on' } })
    const taskId = await createId(bench, { depends_on: ids.slice(0, 100) })
    for (const lease of await claim(bench, { max_tasks: 101 })) await succeed(bench, lease)
    expect(await claimedIds(bench)).toEqual([taskId])
  })

  verifies('TASK-6', 'a task depends on none of another tenant, and none that does not exist', async () => {
    const bench = await open(BY_HAND)
    const neighbour = await open(BY_HAND)
    const foreign = await first(neighbour)
    const unknown = '01900000-0000-7000-8000-000000000000'
    for (const on of [foreign, unknown]) {
      const refusal = await bench.refusal('createTask', { type: 'work', depends_on: [on] })
      expect(refusal).toMatchObject({ code: 'not_found', status: 404 })
    }
    expect(await bench.receipts()).toEqual([])
    expect((await bench.call('listTasks', {})).tasks).toEqual([])
  })

  verifies(
    'TASK-6',
    'a circle cannot be written down: dependencies exist before, and never change',
    async () => {
      const bench = await open(BY_HAND)
      const body = { type: 'work', idempotency_key: 'k' }
      const one = await createId(bench, body)
      const other = await createId(bench, { depends_on: [one] })
      const refusal = await bench.refusal('createTask', { ...body, depends_on: [other] })
      expect(refusal.code).toBe('idempotency_conflict')
      expect((await task(bench, one)).depends_on).toEqual([])
    },
  )

  verifies(
    ['TASK-6', 'GUAR-5'],
    'a server that dies between an end and its dependents leaves them to the sweep',
    async () => {
      const dying = { ...store(), dependentsOf: () => Promise.reject(new Error('killed')) }
      const bench = await openBench(dying, BY_HAND)
      const [good, bad] = [await first(bench), await first(bench)]
      const freed = await createId(bench, { depends_on: [good] })
      const fallen = await createId(bench, { depends_on: [bad] })
      await succeed(bench, await claimFirst(bench))
      await failForGood(bench, await claimFirst(bench))
      expect(await claim(bench)).toEqual([])
      const survivor = await openBench(store(), BY_HAND, { clock: bench.clock, tenantId: bench.tenantId })
      await survivor.gate.sweep()
      expect(await claimedIds(survivor)).toEqual([freed])
      expect((await task(survivor, fallen)).status).toBe('canceled')
    },
  )

  verifies('TASK-6', 'a task with many dependents frees them all, in commits of bounded size', async () => {
    const sizes: number[] = []
    const real = store()
    const measuring = {
      ...real,
      transact: ((unit) => {
        sizes.push(unit.needs.taskIds.size)
        return real.transact(unit)
      }) as typeof real.transact,
    }
    const bench = await openBench(measuring, BY_HAND)
    const on = await first(bench)
    await bench.call('createTasks', {
      tasks: Array.from({ length: 520 }, () => ({ type: 'work', depends_on: [on] })),
    })
    await succeed(bench, await claimFirst(bench))
    expect(Math.max(...sizes)).toBe(500)
    // The last of them follow in a commit of their own, which a claim may come before.
    const freed = new Set<string>()
    while (freed.size < 520) {
      for (const { task_id } of await claim(bench, { max_tasks: 1_000, wait_seconds: 20 })) freed.add(task_id)
    }
    expect(await claim(bench, { max_tasks: 1_000 })).toEqual([])
  })

  verifies('TASK-6', 'the sweep does not look in vain at what still waits', async () => {
    const bench = await open(BY_HAND)
    const dueHere = async () =>
      (await store().dueDependents(1_000)).filter(({ tenantId }) => tenantId === bench.tenantId)
    const on = [await first(bench), await first(bench)]
    await createId(bench, { depends_on: on })
    await createId(bench, { depends_on: on, on_dependency_failure: 'run' })
    await succeed(bench, await claimFirst(bench))
    expect(await dueHere()).toEqual([])
  })
})
