// The sweep: lost leases come back, each exactly once, whichever instance looks.
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { onEveryStore, openBench } from './harness.ts'
import {
  BY_HAND,
  claim,
  claimedIds,
  claimOne,
  create,
  createId,
  held,
  leased,
  openTimed,
  openTwo,
  receiptTypes,
  task,
} from './scenes.ts'

const items = (count: number) => Array.from({ length: count }, () => ({ type: 'work' }))

onEveryStore('sweep', (open, _kind, store, beside) => {
  verifies('LEASE-7', 'a swept lease is closed, its task requeued, its owner told', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench, { principal_id: 'alice' })
    await bench.clock.advance(300_000)
    await bench.gate.sweep()
    expect(await task(bench, lease.task_id)).toMatchObject({ status: 'queued', lease: null })
    expect((await bench.receipts(lease.task_id)).at(-1)).toMatchObject({
      receipt_type: 'lease.expired',
      from: { kind: 'system', id: 'asyncgate' },
      to: { kind: 'agent', id: 'alice' },
      lease_id: lease.lease_id,
      parents: [(await task(bench, lease.task_id)).assigned_receipt_id],
      body: {
        task_id: lease.task_id,
        previous_worker_id: 'w-1',
        attempt: 0,
        expiries: 1,
        requeued: true,
      },
    })
  })

  verifies('LEASE-7', 'a sweep leaves leases alone that have not ended', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    await bench.clock.advance(299_999)
    await bench.gate.sweep()
    expect(await task(bench, lease.task_id)).toMatchObject({ status: 'leased', expiries: 0 })
  })

  verifies('LEASE-7', 'sweeping twice expires nothing twice', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    await bench.clock.advance(300_000)
    await bench.gate.sweep()
    const before = await bench.receipts()
    await bench.gate.sweep()
    expect(await bench.receipts()).toEqual(before)
    expect((await task(bench, lease.task_id)).expiries).toBe(1)
  })

  verifies('LEASE-7', 'a sweep of more leases than fit one batch ends them all', async () => {
    const bench = await open(BY_HAND)
    await bench.call('createTasks', { tasks: items(520) })
    await claim(bench, { max_tasks: 520 })
    await bench.clock.advance(300_000)
    await bench.gate.sweep()
    await bench.clock.advance(5_000)
    expect(await claim(bench, { max_tasks: 1_000 })).toHaveLength(520)
  })

  verifies('LEASE-7', 'two instances that sweep at once expire each lease exactly once', async () => {
    const [one, other] = await openTwo(store(), await beside(), BY_HAND)
    await one.call('createTasks', { tasks: items(50) })
    const leases = await claim(one, { max_tasks: 50 })
    await one.clock.advance(300_000)
    await Promise.all([one.gate.sweep(), other.gate.sweep(), one.gate.sweep(), other.gate.sweep()])
    for (const { task_id } of leases) {
      expect((await task(one, task_id)).expiries).toBe(1)
      expect(await receiptTypes(other, task_id)).toEqual(['task.assigned', 'task.accepted', 'lease.expired'])
    }
  })

  verifies(['LEASE-7', 'GUAR-5'], 'the leases of an instance that died are swept by the others', async () => {
    const [dead, alive] = await openTwo(store(), await beside(), { lease: { sweep_interval_seconds: 10 } })
    const lease = await leased(dead)
    await dead.stop()
    await alive.clock.advance(300_000 + 2 * 10_000)
    expect(await claimedIds(alive, { worker_id: 'w-2' })).toEqual([lease.task_id])
    expect(await task(alive, lease.task_id)).toMatchObject({ expiries: 1, attempt: 0 })
  })

  verifies(
    ['LEASE-7', 'GUAR-5'],
    'every 10 s by default: within TTL and two sweeps a lost task is claimable',
    async () => {
      const [bench] = await openTimed([store()])
      const lease = await leased(bench!, {}, { lease_ttl_seconds: 10 })
      await bench!.clock.advance(10_000 + 2 * 10_000)
      expect(await claimedIds(bench!, { worker_id: 'w-2' })).toEqual([lease.task_id])
    },
  )

  verifies('LEASE-7', 'the interval of sweeps is configurable', async () => {
    const [bench] = await openTimed([store()], {
      lease: { sweep_interval_seconds: 1, requeue_jitter_seconds: 0 },
    })
    const lease = await leased(bench!, {}, { lease_ttl_seconds: 10 })
    await bench!.clock.advance(11_000)
    expect(await claimedIds(bench!, { worker_id: 'w-2' })).toEqual([lease.task_id])
  })

  verifies('LEASE-7', 'a grace leaves an ended lease to the sweep later, and dead all the same', async () => {
    const bench = await open({ lease: { ...BY_HAND.lease, grace_seconds: 30 } })
    const lease = await leased(bench)
    await bench.clock.advance(329_999)
    await bench.gate.sweep()
    expect((await task(bench, lease.task_id)).status).toBe('leased')
    expect((await bench.refusal('renewLease', held(lease))).code).toBe('lease_invalid_or_expired')
    await bench.clock.advance(1)
    await bench.gate.sweep()
    expect((await task(bench, lease.task_id)).status).toBe('queued')
  })

  verifies('LEASE-7', 'a worker that says nothing is not asked: only time ends its lease', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    for (let count = 0; count < 29; count++) {
      await bench.clock.advance(10_000)
      await bench.gate.sweep()
    }
    expect(await receiptTypes(bench, lease.task_id)).toEqual(['task.assigned', 'task.accepted'])
    await bench.call('complete', { ...held(lease), store_result: true })
  })

  verifies('GUAR-5', 'an outage of the database costs one sweep, not the loop', async () => {
    let down = false
    const gone = () => Promise.reject(new Error('connection lost'))
    const real = store()
    const flaky = {
      ...real,
      dueTimers: (...args: Parameters<typeof real.dueTimers>) => (down ? gone() : real.dueTimers(...args)),
      dueLeases: (...args: Parameters<typeof real.dueLeases>) => (down ? gone() : real.dueLeases(...args)),
    }
    const [bench] = await openTimed([flaky])
    const lease = await leased(bench!, {}, { lease_ttl_seconds: 10 })
    down = true
    await bench!.clock.advance(60_000)
    expect((await task(bench!, lease.task_id)).status).toBe('leased')
    down = false
    await bench!.clock.advance(2 * 10_000)
    expect(await claimedIds(bench!, { worker_id: 'w-2' })).toEqual([lease.task_id])
  })

  verifies('GUAR-4', 'a clock that runs ahead ends leases early and breaks nothing', async () => {
    const right = await open(BY_HAND)
    const ahead = await openBench(store(), BY_HAND, { tenantId: right.tenantId })
    await ahead.clock.advance(400_000)
    const lease = await leased(right)
    await ahead.gate.sweep()
    await ahead.clock.advance(5_000)
    const successor = await claimOne(ahead, { worker_id: 'w-2' })
    expect(successor.fence).toBe(lease.fence + 1)
    const refusal = await right.refusal('complete', { ...held(lease), result: 'zombie' })
    expect(refusal.code).toBe('lease_invalid_or_expired')
    await ahead.call('complete', { ...held(successor, 'w-2'), result: 'real', store_result: true })
    expect((await task(right, lease.task_id)).result?.result).toBe('real')
  })

  verifies('GUAR-4', 'a clock that runs behind ends leases late and breaks nothing', async () => {
    const right = await open(BY_HAND)
    const behind = await openBench(store(), BY_HAND, { tenantId: right.tenantId })
    await right.clock.advance(600_000)
    const { task_id } = await create(right)
    const lease = await claimOne(right)
    await behind.gate.sweep()
    expect(await claim(behind, { worker_id: 'w-2' })).toEqual([])
    await right.call('complete', { ...held(lease), store_result: true })
    expect((await task(behind, task_id)).status).toBe('succeeded')
  })

  verifies(
    'GUAR-4',
    'a clock that is set back neither revives a swept lease nor repeats a fence',
    async () => {
      const bench = await open(BY_HAND)
      const lease = await leased(bench)
      await bench.clock.advance(300_000)
      await bench.gate.sweep()
      await bench.clock.advance(5_000)
      const back = await openBench(store(), BY_HAND, { tenantId: bench.tenantId })
      expect((await back.refusal('renewLease', held(lease))).code).toBe('lease_invalid_or_expired')
      await back.clock.advance(310_000)
      expect((await claimOne(back)).fence).toBe(2)
    },
  )

  verifies('GUAR-5', 'tasks with nothing but an end in common all come back after an outage', async () => {
    const bench = await open(BY_HAND)
    const plain = await leased(bench)
    const timed = await leased(bench, { timeout_seconds: 60, retry_backoff_seconds: 0 })
    const keyed = await leased(bench, { concurrency_key: 'k' })
    const delayed = await createId(bench, { delay_seconds: 600 })
    await bench.clock.advance(1_000_000)
    await bench.gate.sweep()
    await bench.clock.advance(5_000)
    const back = await claimedIds(bench, { max_tasks: 10 })
    expect(back.toSorted()).toEqual([plain.task_id, timed.task_id, keyed.task_id, delayed].toSorted())
  })
})
