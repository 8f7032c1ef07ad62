// The life of a task: which ways lead where, what a failure costs, what a lost lease costs, what comes after the end.
import { expect } from 'vitest'
import { iso } from '../../src/clock.ts'
import { verifies } from '../requirements.ts'
import { type Bench, onEveryStore } from './harness.ts'
import {
  BY_HAND,
  claim,
  claimOne,
  create,
  createId,
  ERROR,
  evidence,
  held,
  leased,
  loseLease,
  receiptTypes,
  refusedWithoutTrace,
  task,
} from './scenes.ts'

const inMs = (bench: Bench, ms: number) => iso(bench.clock.now() + ms)
const statusOf = async (bench: Bench, taskId: string) => (await task(bench, taskId)).status

/** One task in each state; those that were held come with the lease that they had. */
const STATES = {
  queued: async (bench: Bench) => {
    const lease = await leased(bench)
    await bench.call('releaseLease', held(lease))
    return lease
  },
  leased: (bench: Bench) => leased(bench),
  running: async (bench: Bench) => {
    const lease = await leased(bench)
    await bench.call('start', held(lease))
    return lease
  },
  succeeded: async (bench: Bench) => {
    const lease = await leased(bench)
    await bench.call('complete', { ...held(lease), result: { answer: 42 } })
    return lease
  },
  failed: async (bench: Bench) => {
    const lease = await leased(bench, { max_attempts: 1 })
    await bench.call('fail', { ...held(lease), error: ERROR })
    return lease
  },
  canceled: async (bench: Bench) => {
    const lease = await leased(bench)
    await bench.call('cancelTask', { task_id: lease.task_id })
    return lease
  },
} as const
const STATUSES = Object.keys(STATES) as (keyof typeof STATES)[]
const TERMINAL = ['succeeded', 'failed', 'canceled'] as const

onEveryStore('states', (open) => {
  verifies('STATE-1', 'a task goes queued, leased, running, succeeded', async () => {
    const bench = await open(BY_HAND)
    const taskId = await createId(bench)
    const seen = [await statusOf(bench, taskId)]
    const lease = await claimOne(bench)
    seen.push(await statusOf(bench, taskId))
    await bench.call('start', held(lease))
    seen.push(await statusOf(bench, taskId))
    await bench.call('complete', { ...held(lease), store_result: true })
    seen.push(await statusOf(bench, taskId))
    expect(seen).toEqual(['queued', 'leased', 'running', 'succeeded'])
  })

  verifies('STATE-1', 'the first progress makes a task running, and a renewal does not', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    await bench.call('renewLease', held(lease))
    expect(await task(bench, lease.task_id)).toMatchObject({ status: 'leased', started_at: null })
    await bench.clock.advance(1_000)
    await bench.call('reportProgress', { ...held(lease), progress: { percent: 1 } })
    const startedAt = inMs(bench, 0)
    await bench.clock.advance(1_000)
    await bench.call('reportProgress', { ...held(lease), progress: { percent: 2 } })
    expect(await task(bench, lease.task_id)).toMatchObject({
      status: 'running',
      started_at: startedAt,
      progress: { percent: 2 },
    })
  })

  verifies('STATE-1', 'starting twice gives the same answer and changes nothing more', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    const first = await bench.call('start', held(lease))
    const before = await evidence(bench, lease.task_id)
    await bench.clock.advance(1_000)
    expect(await bench.call('start', held(lease))).toEqual(first)
    expect(await evidence(bench, lease.task_id)).toEqual(before)
    expect(first).toEqual({ ok: true, status: 'running', expires_at: lease.expires_at })
  })

  verifies('STATE-1', 'a task may be completed without ever having been started', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    await bench.clock.advance(1_000)
    await bench.call('complete', { ...held(lease), store_result: true })
    expect(await statusOf(bench, lease.task_id)).toBe('succeeded')
  })

  for (const status of STATUSES.filter((name) => name !== 'failed')) {
    verifies(
      ['STATE-1', 'STATE-6', 'OPS-5'],
      `a ${status} task cannot be redriven, and nothing changes`,
      async () => {
        const bench = await open(BY_HAND)
        const { task_id } = await STATES[status](bench)
        const refusal = await refusedWithoutTrace(bench, 'retryTask', { task_id })
        expect(refusal).toMatchObject({
          code: 'invalid_transition',
          status: 409,
          details: { task_status: status },
        })
        expect((await bench.call('listTasks', {})).tasks).toHaveLength(1)
      },
    )
  }

  for (const status of STATUSES.filter((name) => name !== 'succeeded')) {
    verifies(
      ['STATE-1', 'OPS-5'],
      `nothing can be attached to a ${status} task, and nothing changes`,
      async () => {
        const bench = await open(BY_HAND)
        const { task_id } = await STATES[status](bench)
        const input = { task_id, artifacts: [{ url: 'https://example.org/x' }] }
        const refusal = await refusedWithoutTrace(bench, 'attachArtifacts', input)
        expect(refusal).toMatchObject({
          code: 'invalid_transition',
          status: 409,
          details: { task_status: status },
        })
      },
    )
  }

  for (const status of ['queued', ...TERMINAL] as const) {
    verifies(
      ['STATE-1', 'LEASE-4'],
      `a ${status} task takes no word from the worker that had it`,
      async () => {
        const bench = await open(BY_HAND)
        const lease = await STATES[status](bench)
        const calls = [
          ['start', held(lease)],
          ['renewLease', held(lease)],
          ['reportProgress', { ...held(lease), progress: {} }],
        ] as const
        for (const [key, input] of calls) {
          const refusal = await refusedWithoutTrace(bench, key, input)
          expect(refusal).toMatchObject({
            code: 'lease_invalid_or_expired',
            status: 409,
            details: { task_status: status },
          })
        }
      },
    )
  }

  for (const status of ['queued', 'leased', 'running'] as const) {
    verifies('STATE-1', `a ${status} task can be canceled`, async () => {
      const bench = await open(BY_HAND)
      const { task_id } = await STATES[status](bench)
      const reply = await bench.call('cancelTask', { task_id, reason: 'no longer wanted' })
      expect(reply).toEqual({ ok: true, status: 'canceled' })
      expect(await task(bench, task_id)).toMatchObject({
        status: 'canceled',
        lease: null,
        completed_at: inMs(bench, 0),
        result: { outcome: 'canceled' },
      })
      const receipts = await bench.receipts(task_id)
      expect(receipts.slice(-2)).toMatchObject([
        { receipt_type: 'task.canceled', body: { reason: 'no longer wanted' } },
        { receipt_type: 'task.result_ready', body: { status: 'canceled' } },
      ])
    })
  }

  for (const status of TERMINAL) {
    verifies(['STATE-2', 'GUAR-2'], `a ${status} task never changes again`, async () => {
      const bench = await open(BY_HAND)
      const lease = await STATES[status](bench)
      const before = await task(bench, lease.task_id)
      const { task_id } = lease
      expect(await bench.call('cancelTask', { task_id })).toEqual({ ok: false, status })
      await bench.refusal('complete', { ...held(lease), result: 'late' })
      await bench.refusal('fail', { ...held(lease), error: { code: 'late', message: 'late' } })
      await bench.refusal('releaseLease', held(lease))
      await bench.clock.advance(3_000_000)
      await bench.gate.sweep()
      expect(await claim(bench)).toEqual([])
      expect(await task(bench, task_id)).toEqual(before)
    })
  }

  verifies('STATE-2', 'what comes after the end is recorded beside the task, not in it', async () => {
    const bench = await open(BY_HAND)
    const succeeded = await STATES.succeeded(bench)
    const failed = await STATES.failed(bench)
    const before = [await task(bench, succeeded.task_id), await task(bench, failed.task_id)]
    await bench.call('attachArtifacts', { task_id: succeeded.task_id, artifacts: [{ url: 'https://x.org' }] })
    await bench.call('retryTask', { task_id: failed.task_id })
    expect([await task(bench, succeeded.task_id), await task(bench, failed.task_id)]).toEqual(before)
  })

  verifies('STATE-3', 'no submitted or acknowledged receipt moves a task', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    const assigned = (await bench.receipts(lease.task_id))[0]!
    const before = await task(bench, lease.task_id)
    await bench.call('submitReceipt', {
      receipt_type: 'x.completed',
      to: { kind: 'agent', id: 'default' },
      task_id: lease.task_id,
      parents: [assigned.receipt_id],
      body: { status: 'succeeded' },
    })
    await bench.call('submitReceipt', {
      receipt_type: 'schedule.deleted',
      to: { kind: 'agent', id: 'default' },
      parents: [assigned.receipt_id],
    })
    await bench.call('ackReceipt', { receipt_id: assigned.receipt_id })
    expect(await task(bench, lease.task_id)).toEqual(before)
    const { open_obligations } = await bench.call('openObligations', {})
    expect(open_obligations.map((receipt) => receipt.receipt_id)).toEqual([assigned.receipt_id])
  })

  verifies('STATE-3', 'receipts of state cannot be submitted', async () => {
    const bench = await open(BY_HAND)
    const { task_id, receipt_id } = await create(bench)
    for (const receipt_type of ['task.completed', 'task.canceled', 'lease.expired', 'system.anomaly']) {
      const refusal = await bench.refusal('submitReceipt', {
        receipt_type,
        to: { kind: 'agent', id: 'default' },
        task_id,
        parents: [receipt_id],
      })
      expect(refusal.code).toBe('invalid_input')
    }
    expect(await receiptTypes(bench, task_id)).toEqual(['task.assigned'])
  })

  verifies('STATE-3', 'every change of state leaves its receipt', async () => {
    const bench = await open(BY_HAND)
    const taskId = await createId(bench, { retry_backoff_seconds: 0 })
    await claimOne(bench)
    await loseLease(bench)
    await bench.call('fail', { ...held(await claimOne(bench)), error: ERROR })
    const last = await claimOne(bench)
    await bench.call('complete', { ...held(last), store_result: true })
    expect(await receiptTypes(bench, taskId)).toEqual([
      'task.assigned',
      'task.accepted',
      'lease.expired',
      'task.accepted',
      'task.retry_scheduled',
      'task.accepted',
      'task.completed',
      'task.result_ready',
    ])
  })
})
