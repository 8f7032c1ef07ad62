// What a failure costs, and what a lost lease costs.
import { expect } from 'vitest'
import { iso } from '../../src/clock.ts'
import { verifies } from '../requirements.ts'
import { type Bench, onEveryStore } from './harness.ts'
import {
  BY_HAND,
  claim,
  claimedIds,
  claimOne,
  createId,
  ERROR,
  held,
  leased,
  loseLease,
  receiptTypes,
  task,
} from './scenes.ts'

const inMs = (bench: Bench, ms: number) => iso(bench.clock.now() + ms)

onEveryStore('retries', (open) => {
  verifies('STATE-4', 'three failures wait 30 s, 60 s, and are then final', async () => {
    const bench = await open(BY_HAND)
    const taskId = await createId(bench)
    const fail = async () => bench.call('fail', { ...held(await claimOne(bench)), error: ERROR })

    expect(await fail()).toEqual({ ok: true, requeued: true, next_eligible_at: inMs(bench, 30_000) })
    expect(await task(bench, taskId)).toMatchObject({ status: 'queued', attempt: 1, lease: null })
    await bench.clock.advance(29_999)
    expect(await claim(bench)).toEqual([])
    await bench.clock.advance(1)

    expect(await fail()).toEqual({ ok: true, requeued: true, next_eligible_at: inMs(bench, 60_000) })
    await bench.clock.advance(59_999)
    expect(await claim(bench)).toEqual([])
    await bench.clock.advance(1)

    expect(await fail()).toEqual({ ok: true, requeued: false })
    expect(await task(bench, taskId)).toMatchObject({
      status: 'failed',
      attempt: 3,
      dead_letter: true,
      result: { outcome: 'failed', error: ERROR },
    })
    await bench.clock.advance(1_000_000)
    expect(await claim(bench)).toEqual([])
    expect(await receiptTypes(bench, taskId)).toEqual([
      'task.assigned',
      'task.accepted',
      'task.retry_scheduled',
      'task.accepted',
      'task.retry_scheduled',
      'task.accepted',
      'task.failed',
      'task.result_ready',
    ])
  })

  verifies('STATE-4', 'the backoff doubles up to 900 s and no further', async () => {
    const bench = await open(BY_HAND)
    await createId(bench, { max_attempts: 10, retry_backoff_seconds: 200 })
    const waits: number[] = []
    for (let attempt = 0; attempt < 5; attempt++) {
      const reply = await bench.call('fail', { ...held(await claimOne(bench)), error: ERROR })
      waits.push(Date.parse(reply.next_eligible_at!) - bench.clock.now())
      await bench.clock.advance(waits.at(-1)!)
    }
    expect(waits).toEqual([200_000, 400_000, 800_000, 900_000, 900_000])
  })

  verifies('STATE-4', 'a worker may say when to try again, up to 900 s', async () => {
    const bench = await open(BY_HAND)
    await createId(bench, { max_attempts: 10 })
    const waits: number[] = []
    for (const retry_after_seconds of [0, 5, 900, 901]) {
      const reply = await bench.call('fail', {
        ...held(await claimOne(bench)),
        error: ERROR,
        retry_after_seconds,
      })
      waits.push(Date.parse(reply.next_eligible_at!) - bench.clock.now())
      await bench.clock.advance(waits.at(-1)!)
    }
    expect(waits).toEqual([0, 5_000, 900_000, 900_000])
  })

  verifies('STATE-4', 'the defaults of retries come from the configuration', async () => {
    const bench = await open({
      ...BY_HAND,
      retry: { max_attempts: 5, backoff_seconds: 7, backoff_cap_seconds: 10 },
    })
    await createId(bench)
    const waits: number[] = []
    for (let attempt = 0; attempt < 2; attempt++) {
      const reply = await bench.call('fail', { ...held(await claimOne(bench)), error: ERROR })
      waits.push(Date.parse(reply.next_eligible_at!) - bench.clock.now())
      await bench.clock.advance(waits.at(-1)!)
    }
    expect(waits).toEqual([7_000, 10_000])
    expect((await claimOne(bench)).max_attempts).toBe(5)
  })

  verifies(
    'STATE-4',
    'a failure that cannot be retried is final, counts, and is no dead letter',
    async () => {
      const bench = await open(BY_HAND)
      const lease = await leased(bench)
      const reply = await bench.call('fail', { ...held(lease), error: ERROR, retryable: false })
      expect(reply).toEqual({ ok: true, requeued: false })
      expect(await task(bench, lease.task_id)).toMatchObject({
        status: 'failed',
        attempt: 1,
        dead_letter: false,
        result: { error: ERROR },
      })
    },
  )

  verifies(
    'STATE-4',
    'a failure that cannot be retried is a dead letter if it was the last attempt',
    async () => {
      const bench = await open(BY_HAND)
      const lease = await leased(bench, { max_attempts: 1 })
      await bench.call('fail', { ...held(lease), error: ERROR, retryable: false })
      expect(await task(bench, lease.task_id)).toMatchObject({ status: 'failed', dead_letter: true })
    },
  )

  verifies('STATE-4', 'a retry says in the ledger why and when', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    await bench.call('fail', { ...held(lease), error: { ...ERROR, hint: 'x' } })
    expect((await bench.receipts(lease.task_id)).at(-1)).toMatchObject({
      receipt_type: 'task.retry_scheduled',
      from: { kind: 'worker', id: 'w-1' },
      to: { kind: 'system', id: 'asyncgate' },
      lease_id: lease.lease_id,
      parents: [(await task(bench, lease.task_id)).assigned_receipt_id],
      body: { error: { ...ERROR, hint: 'x' }, attempt: 1, next_eligible_at: inMs(bench, 30_000) },
    })
  })

  verifies('STATE-5', 'a lost lease counts an expiry and no attempt', async () => {
    const bench = await open(BY_HAND)
    const { task_id } = await leased(bench)
    await bench.clock.advance(300_000)
    await bench.gate.sweep()
    const after = await task(bench, task_id)
    expect(after).toMatchObject({ status: 'queued', attempt: 0, expiries: 1, lease: null })
    const jitterMs = Date.parse(after.next_eligible_at) - bench.clock.now()
    expect(jitterMs).toBeGreaterThanOrEqual(0)
    expect(jitterMs).toBeLessThanOrEqual(5_000)
    await bench.clock.advance(5_000)
    expect(await claimedIds(bench)).toEqual([task_id])
  })

  verifies('STATE-5', 'lost leases come back spread over 0 to 5 s', async () => {
    const bench = await open(BY_HAND)
    await bench.call('createTasks', { tasks: Array.from({ length: 50 }, () => ({ type: 'work' })) })
    await claim(bench, { max_tasks: 50 })
    await bench.clock.advance(300_000)
    await bench.gate.sweep()
    const { tasks } = await bench.call('listTasks', { limit: 50 })
    const waits = tasks.map((found) => Date.parse(found.next_eligible_at) - bench.clock.now())
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...waits)).toBeLessThanOrEqual(5_000)
    expect(new Set(waits).size).toBeGreaterThan(25)
  })

  verifies('STATE-5', '20 lost leases are borne, the 21st makes the task poison', async () => {
    const bench = await open(BY_HAND)
    const taskId = await createId(bench)
    for (let count = 1; count <= 20; count++) {
      await claimOne(bench, { lease_ttl_seconds: 10 })
      await loseLease(bench, 10_000)
      expect(await task(bench, taskId)).toMatchObject({ status: 'queued', expiries: count, attempt: 0 })
    }
    await claimOne(bench, { lease_ttl_seconds: 10 })
    await loseLease(bench, 10_000)
    expect(await task(bench, taskId)).toMatchObject({
      status: 'failed',
      dead_letter: true,
      attempt: 0,
      expiries: 21,
      lease: null,
      result: { outcome: 'failed', error: { code: 'lease_expired_too_often' } },
    })
    expect((await receiptTypes(bench, taskId)).slice(-3)).toEqual([
      'lease.expired',
      'task.failed',
      'task.result_ready',
    ])
    const expired = (await bench.receipts(taskId)).filter((one) => one.receipt_type === 'lease.expired')
    expect(expired.map((one) => one.body['requeued'])).toEqual([...Array(20).fill(true), false])
  })

  verifies('STATE-5', 'a task that may lose its lease for ever is never poison', async () => {
    const bench = await open(BY_HAND)
    const taskId = await createId(bench, { max_expiries: 0 })
    for (let count = 0; count < 25; count++) {
      await claimOne(bench, { lease_ttl_seconds: 10 })
      await loseLease(bench, 10_000)
    }
    expect(await task(bench, taskId)).toMatchObject({ status: 'queued', expiries: 25 })
  })

  verifies('STATE-5', 'a task may bear fewer lost leases than others', async () => {
    const bench = await open(BY_HAND)
    const taskId = await createId(bench, { max_expiries: 1 })
    for (let count = 0; count < 2; count++) {
      await claimOne(bench, { lease_ttl_seconds: 10 })
      await loseLease(bench, 10_000)
    }
    expect(await task(bench, taskId)).toMatchObject({ status: 'failed', dead_letter: true, expiries: 2 })
  })
})
