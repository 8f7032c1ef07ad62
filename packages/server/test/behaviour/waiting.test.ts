// Calls that wait: a claim for work, a read for the end of a task. Woken by what happens, here or on another instance.
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { type Bench, onEveryStore } from './harness.ts'
import {
  arrival,
  claim,
  claimOne,
  create,
  createId,
  ERROR,
  held,
  type Leased,
  leased,
  openTimed,
  openTwo,
  untilWaiting,
  WORKER,
} from './scenes.ts'

/** A claim that waits, once it does. Its answer is wrapped, since returning a promise would await it. */
async function waiter(bench: Bench, fields: object = {}) {
  const before = bench.gate.engine.waitingClaims()
  const answer = claim(bench, { wait_seconds: 60, ...fields }).then((tasks: Leased[]) => ({
    ids: tasks.map((found) => found.task_id),
    at: bench.clock.now(),
  }))
  await untilWaiting(bench, before + 1)
  return { answer }
}

const openOne = async (...args: Parameters<typeof openTimed>) => (await openTimed(...args))[0]!

onEveryStore('waiting', (_open, _kind, store, beside) => {
  verifies(['OPS-7', 'LEASE-3'], 'a claim that waits is given a task as it is created', async () => {
    const bench = await openOne([store()])
    const { answer } = await waiter(bench)
    await bench.clock.advance(7_300)
    const createdAt = bench.clock.now()
    const taskId = await createId(bench)
    expect(await arrival(bench, answer)).toEqual({ ids: [taskId], at: createdAt })
  })

  verifies('LEASE-3', 'others who wait for room do not keep from what there is', async () => {
    const bench = await openOne([store()], { claim: { max_concurrent_leases: 1 } })
    const [, second] = [await createId(bench), await createId(bench)]
    const lease = await claimOne(bench)
    await waiter(bench, { worker_id: 'another' })
    await bench.call('complete', { ...held(lease), store_result: true })
    const now = bench.clock.now()
    const [next] = await claim(bench, { wait_seconds: 60 })
    expect([next?.task_id, bench.clock.now()]).toEqual([second, now])
  })

  verifies('LEASE-3', 'a claim that has waited in vain is answered with an empty list', async () => {
    const bench = await openOne([store()])
    const { answer } = await waiter(bench, { wait_seconds: 30 })
    const endsAt = bench.clock.now() + 30_000
    await bench.clock.advance(29_999)
    expect(bench.gate.engine.waitingClaims()).toBe(1)
    await bench.clock.advance(1)
    expect(await arrival(bench, answer)).toEqual({ ids: [], at: endsAt })
  })

  verifies('LEASE-3', 'a server may let claims wait shorter than they ask', async () => {
    const bench = await openOne([store()], { claim: { max_wait_seconds: 5 } })
    const { answer } = await waiter(bench)
    const endsAt = bench.clock.now() + 5_000
    await bench.clock.advance(5_000)
    expect(await arrival(bench, answer)).toEqual({ ids: [], at: endsAt })
  })

  verifies('LEASE-3', 'a claim that waits is not woken by work that does not fit it', async () => {
    const bench = await openOne([store()])
    const { answer } = await waiter(bench, { accept_types: ['work'], capabilities: ['gpu'] })
    await create(bench, { type: 'other' })
    await create(bench, { requirements: { capabilities: ['tpu'] } })
    await bench.clock.advance(5_000)
    expect(bench.gate.engine.waitingClaims()).toBe(1)
    const taskId = await createId(bench, { requirements: { capabilities: ['GPU'] } })
    expect((await arrival(bench, answer)).ids).toEqual([taskId])
  })

  verifies('OPS-7', 'who waited longest is given the first task', async () => {
    const bench = await openOne([store()])
    const first = await waiter(bench, { worker_id: 'w-1' })
    const second = await waiter(bench, { worker_id: 'w-2' })
    const one = await createId(bench)
    expect((await arrival(bench, first.answer)).ids).toEqual([one])
    const other = await createId(bench)
    expect((await arrival(bench, second.answer)).ids).toEqual([other])
  })

  verifies('LEASE-1', 'many that wait for few tasks share none', async () => {
    const bench = await openOne([store()])
    const waiters = []
    for (let count = 0; count < 10; count++) waiters.push(await waiter(bench, { worker_id: `w-${count}` }))
    await bench.call('createTasks', { tasks: Array.from({ length: 6 }, () => ({ type: 'work' })) })
    await bench.clock.advance(60_000)
    const answers = await Promise.all(waiters.map(({ answer }) => answer))
    const ids = answers.flatMap((answer) => answer.ids)
    expect([ids.length, new Set(ids).size]).toEqual([6, 6])
  })

  verifies(['OPS-7', 'TASK-3'], 'a claim that waits is given a task as its delay ends', async () => {
    const bench = await openOne([store()])
    const taskId = await createId(bench, { delay_seconds: 20 })
    await bench.clock.advance(7_300)
    const { answer } = await waiter(bench)
    const dueAt = bench.clock.now() + 12_700
    await bench.clock.advance(12_700)
    expect(await arrival(bench, answer)).toEqual({ ids: [taskId], at: dueAt })
  })

  verifies(['OPS-7', 'TASK-3'], 'a delay that begins while a claim waits wakes it as it ends', async () => {
    const bench = await openOne([store()])
    const { answer } = await waiter(bench)
    await bench.clock.advance(300)
    const taskId = await createId(bench, { delay_seconds: 2 })
    const dueAt = bench.clock.now() + 2_000
    await bench.clock.advance(2_000)
    expect(await arrival(bench, answer)).toEqual({ ids: [taskId], at: dueAt })
  })

  verifies(['OPS-7', 'TASK-3'], 'a task that another claim finds due goes to who waits for it', async () => {
    const bench = await openOne([{ ...store(), nextEligibleAt: async () => null }]) // it was not there yet
    const taskId = await createId(bench, { type: 'late', delay_seconds: 2 })
    await bench.clock.advance(1_500)
    const { answer } = await waiter(bench, { accept_types: ['late'] })
    await bench.clock.advance(500)
    const dueAt = bench.clock.now()
    await claim(bench, { accept_types: ['other'] })
    await bench.clock.advance(0)
    await bench.clock.advance(1_000)
    expect(await answer).toEqual({ ids: [taskId], at: dueAt })
  })

  verifies(['OPS-7', 'STATE-4'], 'a claim that waits is given a task as its backoff ends', async () => {
    const bench = await openOne([store()])
    const lease = await leased(bench)
    const { answer } = await waiter(bench, { worker_id: 'w-2' })
    await bench.call('fail', { ...held(lease), error: ERROR })
    const dueAt = bench.clock.now() + 30_000
    await bench.clock.advance(30_000)
    expect(await arrival(bench, answer)).toEqual({ ids: [lease.task_id], at: dueAt })
  })

  verifies(['OPS-7', 'LEASE-6'], 'a claim that waits is given a task as it is released', async () => {
    const bench = await openOne([store()])
    const lease = await leased(bench)
    const { answer } = await waiter(bench, { worker_id: 'w-2' })
    await bench.call('releaseLease', held(lease))
    expect((await arrival(bench, answer)).ids).toEqual([lease.task_id])
  })

  verifies(
    ['OPS-7', 'LEASE-7', 'GUAR-5'],
    'a claim that waits is given a task whose lease was lost',
    async () => {
      const bench = await openOne([store()])
      const lease = await leased(bench, {}, { lease_ttl_seconds: 10 })
      const { answer } = await waiter(bench, { worker_id: 'w-2' })
      const lostAt = bench.clock.now() + 10_000
      await bench.clock.advance(30_000)
      const { ids, at } = await arrival(bench, answer)
      expect(ids).toEqual([lease.task_id])
      expect(at - lostAt).toBeLessThanOrEqual(2 * 10_000)
    },
  )

  verifies(['OPS-7', 'TASK-6'], 'a claim that waits is given a task as its dependency succeeds', async () => {
    const bench = await openOne([store()])
    const lease = await leased(bench)
    const taskId = await createId(bench, { depends_on: [lease.task_id] })
    const { answer } = await waiter(bench, { worker_id: 'w-2' })
    await bench.call('complete', { ...held(lease), store_result: true })
    expect((await arrival(bench, answer)).ids).toEqual([taskId])
  })

  verifies(['OPS-7', 'LEASE-8'], 'a claim that waits is given a task as its key is free', async () => {
    const bench = await openOne([store()])
    const lease = await leased(bench, { concurrency_key: 'k' })
    const taskId = await createId(bench, { concurrency_key: 'k' })
    const { answer } = await waiter(bench, { worker_id: 'w-2' })
    await bench.call('complete', { ...held(lease), store_result: true })
    expect((await arrival(bench, answer)).ids).toEqual([taskId])
  })

  verifies(
    ['OPS-7', 'LEASE-8'],
    'a claim that waits for room in its tenant is given a task once there is',
    async () => {
      const bench = await openOne([store()], { claim: { max_concurrent_leases: 1 } })
      const lease = await leased(bench)
      const taskId = await createId(bench)
      const { answer } = await waiter(bench, { worker_id: 'w-2' })
      await bench.call('complete', { ...held(lease), store_result: true })
      const freeAt = bench.clock.now()
      await bench.clock.advance(1_000)
      const { ids, at } = await arrival(bench, answer)
      expect(ids).toEqual([taskId])
      expect(at - freeAt).toBeLessThanOrEqual(1_000)
    },
  )

  verifies('LEASE-3', 'a claim whose caller has gone takes nothing', async () => {
    const bench = await openOne([store()])
    const gone = new AbortController()
    const answer = bench.call('leaseNext', { worker_id: WORKER, wait_seconds: 60 }, { signal: gone.signal })
    await untilWaiting(bench)
    gone.abort()
    expect(await answer).toEqual({ tasks: [] })
    const taskId = await createId(bench)
    expect((await claimOne(bench, { worker_id: 'w-2' })).task_id).toBe(taskId)
  })

  verifies(['LEASE-11', 'LEASE-3'], 'the claim of a settle waits too', async () => {
    const bench = await openOne([store()])
    const lease = await leased(bench)
    const outcomes = [
      { task_id: lease.task_id, lease_id: lease.lease_id, action: 'complete' as const, store_result: true },
    ]
    const answer = bench.call('settle', { worker_id: WORKER, outcomes, claim: { wait_seconds: 60 } })
    await untilWaiting(bench)
    expect((await bench.call('getTask', { task_id: lease.task_id })).status).toBe('succeeded')
    const taskId = await createId(bench)
    const reply = await arrival(bench, answer)
    expect(reply.outcomes).toMatchObject([{ ok: true, status: 'succeeded' }])
    expect(reply.tasks.map((found) => found.task_id)).toEqual([taskId])
  })

  verifies('OPS-7', 'a claim that waits is woken by a creation on another instance', async () => {
    const [one, other] = await openTwo(store(), await beside())
    const { answer } = await waiter(one)
    const createdAt = one.clock.now()
    const taskId = await createId(other)
    // Where hints do not travel (two processes on one SQLite file) the poll finds it.
    await one.clock.advance(2_000)
    const { ids, at } = await arrival(one, answer)
    expect(ids).toEqual([taskId])
    expect(at - createdAt).toBeLessThanOrEqual(2_000)
  })

  verifies(
    'OPS-7',
    'without hints a claim that waits finds the work of another instance within 2 s',
    async () => {
      const deaf = { ...store(), onHint: () => () => {} }
      const mute = { ...(await beside()), hint: () => {} }
      const [one, other] = await openTwo(deaf, mute)
      const { answer } = await waiter(one)
      await one.clock.advance(300)
      const createdAt = one.clock.now()
      const taskId = await createId(other)
      await one.clock.advance(2_000)
      const { ids, at } = await arrival(one, answer)
      expect(ids).toEqual([taskId])
      expect(at - createdAt).toBeGreaterThan(0)
      expect(at - createdAt).toBeLessThanOrEqual(2_000)
    },
  )

  verifies('OPS-7', 'a delay that another instance began ends for claims here, too', async () => {
    const [one, other] = await openTwo(store(), await beside())
    const { answer } = await waiter(one)
    const taskId = await createId(other, { delay_seconds: 10 })
    const dueAt = one.clock.now() + 10_000
    await one.clock.advance(12_000)
    const { ids, at } = await arrival(one, answer)
    expect(ids).toEqual([taskId])
    expect(at - dueAt).toBeLessThanOrEqual(2_000)
  })

  verifies(['OPS-7', 'OPER-5'], 'stopping answers claims that wait with nothing', async () => {
    const bench = await openOne([store()])
    const { answer } = await waiter(bench)
    await bench.stop()
    expect((await answer).ids).toEqual([])
  })

  verifies(['OPS-7', 'GUAR-5'], 'claims that wait through an outage are served when it is over', async () => {
    let down = false
    const real = store()
    const flaky = {
      ...real,
      transact: ((unit) =>
        down ? Promise.reject(new Error('connection lost')) : real.transact(unit)) as typeof real.transact,
    }
    const [waiting, other] = await openTwo(flaky, await beside())
    const { answer } = await waiter(waiting)
    down = true
    const taskId = await createId(other)
    await waiting.clock.advance(5_000)
    down = false
    await waiting.clock.advance(2_000)
    expect((await arrival(waiting, answer)).ids).toEqual([taskId])
  })

  verifies('OPS-7', 'a read that waits is answered as the task ends', async () => {
    const bench = await openOne([store()])
    const lease = await leased(bench)
    let ended = false
    const answer = bench.call('getTask', { task_id: lease.task_id, wait_seconds: 60 }).finally(() => {
      ended = true
    })
    await bench.clock.advance(5_300)
    expect(ended).toBe(false)
    await bench.call('complete', { ...held(lease), result: 42, store_result: true })
    expect(await arrival(bench, answer)).toMatchObject({ status: 'succeeded', result: { result: 42 } })
  })

  verifies('OPS-7', 'a read that has waited in vain shows the task as it is', async () => {
    const bench = await openOne([store()])
    const taskId = await createId(bench)
    const answer = bench.call('getTask', { task_id: taskId, wait_seconds: 5 })
    await bench.clock.advance(0)
    await bench.clock.advance(5_000)
    expect(await arrival(bench, answer)).toMatchObject({ status: 'queued' })
  })

  verifies(
    'OPS-7',
    'a read that waits sees an end on another instance within 2 s, also without hints',
    async () => {
      const deaf = { ...store(), onHint: () => () => {} }
      const [one, other] = await openTwo(deaf, await beside())
      const lease = await leased(other)
      const answer = one
        .call('getTask', { task_id: lease.task_id, wait_seconds: 60 })
        .then((found) => ({ status: found.status, at: one.clock.now() }))
      await one.clock.advance(300)
      await other.call('complete', { ...held(lease), store_result: true })
      const endedAt = one.clock.now()
      await one.clock.advance(2_000)
      const { status, at } = await arrival(one, answer)
      expect(status).toBe('succeeded')
      expect(at - endedAt).toBeLessThanOrEqual(2_000)
    },
  )
})
