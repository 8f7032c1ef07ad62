// What is left of a task that failed: a dead letter that can be listed, and redriven as a new task.
import { expect } from 'vitest'
import { iso } from '../../src/clock.ts'
import { verifies } from '../requirements.ts'
import { type Bench, onEveryStore } from './harness.ts'
import { asAgent, BY_HAND, claimedIds, claimOne, createId, ERROR, held, leased, task } from './scenes.ts'

const inMs = (bench: Bench, ms: number) => iso(bench.clock.now() + ms)

async function deadLetter(bench: Bench) {
  const lease = await leased(bench, { max_attempts: 1 })
  await bench.call('fail', { ...held(lease), error: ERROR })
  return lease
}

onEveryStore('redrive', (open) => {
  verifies('STATE-6', 'dead letters are listed apart from other failures', async () => {
    const bench = await open(BY_HAND)
    const dead = await deadLetter(bench)
    const plain = await leased(bench)
    await bench.call('fail', { ...held(plain), error: ERROR, retryable: false })
    await bench.call('complete', held(await leased(bench)))
    const list = async (dead_letter: boolean) =>
      (await bench.call('listTasks', { status: 'failed', dead_letter })).tasks.map((found) => found.task_id)
    expect(await list(true)).toEqual([dead.task_id])
    expect(await list(false)).toEqual([plain.task_id])
  })

  verifies('STATE-6', 'a redriven task is a new one that names the end of the old as its cause', async () => {
    const bench = await open(BY_HAND)
    const wanted = {
      type: 'work',
      payload: { a: 1 },
      priority: 4,
      max_attempts: 1,
      requirements: { capabilities: ['GPU'], tags: ['t'] },
      metadata: { m: 1 },
      timeout_seconds: 60,
      summary: 's',
      recipient: { principal_kind: 'human' as const, principal_id: 'bob' },
      parent_task_id: await createId(bench, { delay_seconds: 1_000 }),
      idempotency_key: 'k',
    }
    const lease = await leased(bench, wanted, { capabilities: ['gpu'] })
    await bench.call('fail', { ...held(lease), error: ERROR })
    const before = await task(bench, lease.task_id)
    const failed = (await bench.receipts(lease.task_id)).find((one) => one.receipt_type === 'task.failed')!

    const reply = await bench.call('retryTask', { task_id: lease.task_id })
    expect(reply).toMatchObject({ status: 'queued', is_duplicate: false })
    const redriven = await task(bench, reply.task_id)
    const { idempotency_key: _key, ...kept } = wanted
    expect(redriven).toMatchObject({
      ...kept,
      created_by: before.created_by,
      attempt: 0,
      expiries: 0,
      fence: 0,
      dead_letter: false,
      idempotency_key: null,
      result: null,
      caused_by_receipt_id: failed.receipt_id,
    })
    expect(redriven.task_id).not.toBe(lease.task_id)
    expect((await bench.receipts(reply.task_id))[0]).toMatchObject({
      receipt_id: reply.receipt_id,
      receipt_type: 'task.assigned',
      parents: [failed.receipt_id],
    })
    expect(await task(bench, lease.task_id)).toEqual(before)
    expect(await claimedIds(bench, { capabilities: ['gpu'] })).toEqual([reply.task_id])
  })

  verifies(['STATE-6', 'GUAR-3'], 'redriving again returns the task that the first call made', async () => {
    const bench = await open(BY_HAND)
    const { task_id } = await deadLetter(bench)
    const replies = await Promise.all([1, 2, 3].map(() => bench.call('retryTask', { task_id })))
    expect(new Set(replies.map((reply) => reply.task_id)).size).toBe(1)
    expect(replies.filter((reply) => reply.is_duplicate)).toHaveLength(2)
    const receipts = await bench.receipts()
    expect(await bench.call('retryTask', { task_id })).toMatchObject({ is_duplicate: true })
    expect(await bench.receipts()).toEqual(receipts)
  })

  verifies('STATE-6', 'a redriven task that fails can be redriven in its turn', async () => {
    const bench = await open(BY_HAND)
    const { task_id } = await deadLetter(bench)
    const second = await bench.call('retryTask', { task_id })
    await bench.call('fail', { ...held(await claimOne(bench)), error: ERROR })
    const third = await bench.call('retryTask', { task_id: second.task_id })
    expect(new Set([task_id, second.task_id, third.task_id]).size).toBe(3)
    expect(third.is_duplicate).toBe(false)
  })

  verifies('STATE-6', 'any failed task can be redriven, without the deadline that it missed', async () => {
    const bench = await open(BY_HAND)
    const taskId = await createId(bench, { deadline_at: inMs(bench, 1_000) })
    await bench.clock.advance(1_000)
    await bench.gate.sweep()
    const { task_id } = await bench.call('retryTask', { task_id: taskId })
    await bench.gate.sweep()
    expect(await task(bench, task_id)).toMatchObject({ status: 'queued', deadline_at: null })
  })

  verifies('STATE-6', 'owner and administrator redrive; the recipient and others do not', async () => {
    const bench = await open(BY_HAND)
    const recipient = { principal_kind: 'agent', principal_id: 'bob' } as const
    const lease = await leased(bench, { principal_id: 'alice', recipient, max_attempts: 1 })
    await bench.call('fail', { ...held(lease), error: ERROR })
    const { task_id } = lease
    expect(await bench.refusal('retryTask', { task_id }, asAgent('bob'))).toMatchObject({ code: 'forbidden' })
    expect(await bench.refusal('retryTask', { task_id }, asAgent('eve'))).toMatchObject({ code: 'not_found' })
    expect(await bench.call('retryTask', { task_id }, asAgent('alice'))).toMatchObject({
      is_duplicate: false,
    })
    expect(await bench.call('retryTask', { task_id })).toMatchObject({ is_duplicate: true })
  })
})
