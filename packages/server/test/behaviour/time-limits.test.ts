// Timeouts bound one execution, deadlines the whole task.
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
  held,
  leased,
  receiptTypes,
  refusedWithoutTrace,
  task,
} from './scenes.ts'

const inMs = (bench: Bench, ms: number) => iso(bench.clock.now() + ms)

onEveryStore('time limits', (open) => {
  verifies('TASK-4', 'an execution that takes too long is a retryable failure', async () => {
    const bench = await open(BY_HAND)
    const { task_id } = await leased(bench, { timeout_seconds: 60 })
    await bench.clock.advance(60_000)
    await bench.gate.sweep()
    expect(await task(bench, task_id)).toMatchObject({
      status: 'queued',
      attempt: 1,
      expiries: 0,
      lease: null,
      next_eligible_at: inMs(bench, 30_000),
    })
    const last = (await bench.receipts(task_id)).at(-1)
    expect(last).toMatchObject({
      receipt_type: 'task.retry_scheduled',
      body: { error: { code: 'execution_timeout' }, attempt: 1, next_eligible_at: inMs(bench, 30_000) },
    })
  })

  verifies('TASK-4', 'the grant says when the execution must have ended', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench, { timeout_seconds: 60 })
    expect(lease.timeout_at).toBe(inMs(bench, 60_000))
  })

  verifies('TASK-4', 'renewals do not lengthen an execution', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench, { timeout_seconds: 60 })
    await bench.clock.advance(59_999)
    await bench.call('renewLease', { ...held(lease), extend_by_seconds: 1_800 })
    await bench.clock.advance(1)
    const refusal = await refusedWithoutTrace(bench, 'renewLease', held(lease))
    expect(refusal.code).toBe('lease_invalid_or_expired')
    await bench.gate.sweep()
    expect(await task(bench, lease.task_id)).toMatchObject({ status: 'queued', attempt: 1, expiries: 0 })
  })

  verifies('TASK-4', 'a completion after the timeout is refused also before the sweep', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench, { timeout_seconds: 60 })
    await bench.clock.advance(60_000)
    const refusal = await refusedWithoutTrace(bench, 'complete', { ...held(lease), store_result: true })
    expect(refusal).toMatchObject({
      code: 'lease_invalid_or_expired',
      details: { task_status: 'leased' },
    })
  })

  verifies('TASK-4', 'a completion just before the timeout stands', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench, { timeout_seconds: 60 })
    await bench.clock.advance(59_999)
    await bench.call('complete', { ...held(lease), store_result: true })
    await bench.clock.advance(1)
    await bench.gate.sweep()
    expect((await task(bench, lease.task_id)).status).toBe('succeeded')
  })

  verifies('TASK-4', 'every execution has the whole timeout to itself', async () => {
    const bench = await open(BY_HAND)
    await leased(bench, { timeout_seconds: 60 })
    await bench.clock.advance(60_000)
    await bench.gate.sweep()
    await bench.clock.advance(30_000)
    const second = await claimOne(bench)
    expect(second.timeout_at).toBe(inMs(bench, 60_000))
  })

  verifies(['TASK-4', 'STATE-4'], 'a timeout of the last attempt is final, and a dead letter', async () => {
    const bench = await open(BY_HAND)
    const { task_id } = await leased(bench, { timeout_seconds: 60, max_attempts: 1 })
    await bench.clock.advance(60_000)
    await bench.gate.sweep()
    expect(await task(bench, task_id)).toMatchObject({
      status: 'failed',
      dead_letter: true,
      attempt: 1,
      result: { outcome: 'failed', error: { code: 'execution_timeout' } },
    })
    expect(await receiptTypes(bench, task_id)).toEqual([
      'task.assigned',
      'task.accepted',
      'task.failed',
      'task.result_ready',
    ])
  })

  verifies(
    ['TASK-4', 'STATE-5'],
    'a lease that was lost before the timeout is an expiry, however late the sweep',
    async () => {
      const bench = await open(BY_HAND)
      const { task_id } = await leased(bench, { timeout_seconds: 60 }, { lease_ttl_seconds: 10 })
      await bench.clock.advance(120_000)
      await bench.gate.sweep()
      expect(await task(bench, task_id)).toMatchObject({ status: 'queued', attempt: 0, expiries: 1 })
    },
  )

  verifies('TASK-4', 'a deadline ends a queued task', async () => {
    const bench = await open(BY_HAND)
    const taskId = await createId(bench, { deadline_at: inMs(bench, 60_000) })
    await bench.clock.advance(59_999)
    await bench.gate.sweep()
    expect((await task(bench, taskId)).status).toBe('queued')
    await bench.clock.advance(1)
    await bench.gate.sweep()
    expect(await task(bench, taskId)).toMatchObject({
      status: 'failed',
      attempt: 0,
      completed_at: inMs(bench, 0),
      result: { outcome: 'failed', error: { code: 'deadline_exceeded' } },
    })
    expect(await receiptTypes(bench, taskId)).toEqual(['task.assigned', 'task.failed', 'task.result_ready'])
  })

  verifies('TASK-4', 'a deadline ends a leased task, and its worker learns of it', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench, { deadline_at: inMs(bench, 60_000) })
    await bench.clock.advance(60_000)
    await bench.gate.sweep()
    expect(await task(bench, lease.task_id)).toMatchObject({ status: 'failed', attempt: 0, lease: null })
    const refusal = await refusedWithoutTrace(bench, 'renewLease', held(lease))
    expect(refusal).toMatchObject({ code: 'lease_invalid_or_expired', details: { task_status: 'failed' } })
  })

  verifies('TASK-4', 'a deadline ends a running task', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench, { deadline_at: inMs(bench, 60_000) })
    await bench.call('start', held(lease))
    await bench.clock.advance(60_000)
    await bench.gate.sweep()
    expect(await task(bench, lease.task_id)).toMatchObject({
      status: 'failed',
      result: { error: { code: 'deadline_exceeded' } },
    })
  })

  verifies('TASK-4', 'a deadline ends a task that still waits for its delay', async () => {
    const bench = await open(BY_HAND)
    const taskId = await createId(bench, { delay_seconds: 3_600, deadline_at: inMs(bench, 60_000) })
    await bench.clock.advance(60_000)
    await bench.gate.sweep()
    expect(await task(bench, taskId)).toMatchObject({
      status: 'failed',
      result: { error: { code: 'deadline_exceeded' } },
    })
  })

  verifies('TASK-4', 'a completion after the deadline is refused also before the sweep', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench, { deadline_at: inMs(bench, 60_000) })
    await bench.clock.advance(60_000)
    const refusal = await refusedWithoutTrace(bench, 'complete', { ...held(lease), store_result: true })
    expect(refusal.code).toBe('lease_invalid_or_expired')
  })

  verifies('TASK-4', 'a task past its deadline is never leased, even before the sweep', async () => {
    const bench = await open(BY_HAND)
    const late = await createId(bench, { deadline_at: inMs(bench, 60_000), priority: 1 })
    const other = await createId(bench)
    await bench.clock.advance(60_000)
    expect(await claimedIds(bench)).toEqual([other])
    expect(await task(bench, late)).toMatchObject({
      status: 'failed',
      result: { error: { code: 'deadline_exceeded' } },
    })
    expect(await claim(bench)).toEqual([])
  })

  verifies('TASK-4', 'a deadline is met once, and never by a task that has ended', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench, { deadline_at: inMs(bench, 60_000) })
    await bench.call('complete', { ...held(lease), store_result: true })
    const missed = await createId(bench, { deadline_at: inMs(bench, 60_000) })
    await bench.clock.advance(60_000)
    await bench.gate.sweep()
    const after = [await bench.receipts(), await task(bench, lease.task_id), await task(bench, missed)]
    await bench.clock.advance(60_000)
    await bench.gate.sweep()
    expect([await bench.receipts(), await task(bench, lease.task_id), await task(bench, missed)]).toEqual(
      after,
    )
    expect((await task(bench, lease.task_id)).status).toBe('succeeded')
  })

  verifies('TASK-4', 'a backoff does not carry a task over its deadline', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench, { deadline_at: inMs(bench, 20_000) })
    await bench.call('fail', { ...held(lease), error: { code: 'x', message: 'x' } })
    await bench.clock.advance(20_000)
    await bench.gate.sweep()
    expect(await task(bench, lease.task_id)).toMatchObject({
      status: 'failed',
      attempt: 1,
      result: { error: { code: 'deadline_exceeded' } },
    })
  })
})
