// Tasks: who owns them, how often they are made, when they may begin.
import { expect } from 'vitest'
import { iso } from '../../src/clock.ts'
import { verifies } from '../requirements.ts'
import { onEveryStore, openBench } from './harness.ts'
import {
  BY_HAND,
  claim,
  claimedIds,
  claimOne,
  create,
  createId,
  ERROR,
  held,
  leased,
  openTwo,
  receiptTypes,
  task,
} from './scenes.ts'

const OWNER = { principal_kind: 'agent', principal_id: 'alice' } as const

onEveryStore('tasks', (open, _kind, store, beside) => {
  verifies('TASK-1', 'the owner stays the same through everything that happens to a task', async () => {
    const bench = await open()
    const taskId = await createId(bench, { ...OWNER, max_attempts: 2, retry_backoff_seconds: 0 })
    const first = await claimOne(bench)
    await bench.call('start', held(first))
    await bench.call('releaseLease', held(first))
    await bench.call('fail', { ...held(await claimOne(bench)), error: ERROR })
    await bench.call('fail', { ...held(await claimOne(bench)), error: ERROR })
    const redriven = await bench.call('retryTask', { task_id: taskId, principal_id: 'admin' })
    await bench.call('cancelTask', { task_id: redriven.task_id, principal_id: 'admin' })
    for (const id of [taskId, redriven.task_id]) expect((await task(bench, id)).created_by).toEqual(OWNER)
  })

  verifies('TASK-1', 'no creation takes an owner from its body', async () => {
    const bench = await open()
    const refusal = await bench.refusal('createTask', { type: 'work', created_by: OWNER })
    expect(refusal).toMatchObject({ code: 'invalid_input', details: { field: 'created_by' } })
    expect(await bench.receipts()).toEqual([])
  })

  verifies('TASK-1', 'the owner is owed the outcome unless another recipient is named', async () => {
    const bench = await open()
    const recipient = { principal_kind: 'human', principal_id: 'bob' } as const
    const own = await task(bench, await createId(bench, OWNER))
    const given = await task(bench, await createId(bench, { ...OWNER, recipient }))
    expect([own.recipient, given.recipient, given.created_by]).toEqual([OWNER, recipient, OWNER])
  })

  verifies('TASK-2', 'a key that was used returns the first task and leaves no receipt', async () => {
    const bench = await open()
    const body = { idempotency_key: 'k', payload: { a: 1 } }
    const first = await create(bench, body)
    const before = await bench.receipts()
    const again = await create(bench, body)
    expect(again).toEqual({ ...first, is_duplicate: true })
    expect(first.is_duplicate).toBe(false)
    expect(await bench.receipts()).toEqual(before)
  })

  verifies('TASK-2', 'another body under the same key is a conflict, and nothing is stored', async () => {
    const bench = await open()
    const first = await create(bench, { idempotency_key: 'k', payload: { a: 1 } })
    const before = await bench.receipts()
    const conflict = await bench.refusal('createTask', {
      type: 'work',
      idempotency_key: 'k',
      payload: { a: 2 },
    })
    expect(conflict).toMatchObject({ code: 'idempotency_conflict', status: 409 })
    expect(conflict.details['task_id']).toBe(first.task_id)
    expect(await bench.receipts()).toEqual(before)
    expect((await bench.call('listTasks', {})).tasks).toHaveLength(1)
  })

  verifies(['TASK-2', 'OPS-5'], 'the order of keys in the body makes no conflict', async () => {
    const bench = await open()
    const first = await create(bench, { idempotency_key: 'k', payload: { a: 1, b: { c: 2, d: 3 } } })
    const again = await create(bench, { payload: { b: { d: 3, c: 2 }, a: 1 }, idempotency_key: 'k' })
    expect(again).toEqual({ ...first, is_duplicate: true })
  })

  verifies('TASK-2', 'a key that was used finds its task also after that has ended', async () => {
    const bench = await open()
    const first = await create(bench, { idempotency_key: 'k' })
    await bench.call('complete', { ...held(await claimOne(bench)), store_result: true })
    expect(await create(bench, { idempotency_key: 'k' })).toEqual({
      ...first,
      is_duplicate: true,
      status: 'succeeded',
    })
  })

  verifies('TASK-2', 'owners and tenants have their keys to themselves', async () => {
    const bench = await open()
    const neighbour = await open()
    const made = [
      await create(bench, { ...OWNER, idempotency_key: 'k' }),
      await create(bench, { principal_id: 'bob', idempotency_key: 'k' }),
      await create(bench, { principal_kind: 'human', principal_id: 'alice', idempotency_key: 'k' }),
      await create(neighbour, { ...OWNER, idempotency_key: 'k' }),
    ]
    expect(made.map((reply) => reply.is_duplicate)).toEqual([false, false, false, false])
    expect(new Set(made.map((reply) => reply.task_id)).size).toBe(4)
  })

  verifies('TASK-2', '20 parallel creations with one key give one task and one task.assigned', async () => {
    const bench = await open()
    const made = await Promise.all(
      Array.from({ length: 20 }, () => create(bench, { idempotency_key: 'k', payload: { a: 1 } })),
    )
    expect(new Set(made.map((reply) => reply.task_id)).size).toBe(1)
    expect(made.filter((reply) => !reply.is_duplicate)).toHaveLength(1)
    expect((await bench.receipts()).map((receipt) => receipt.receipt_type)).toEqual(['task.assigned'])
  })

  verifies('TASK-2', '20 parallel creations on two instances give one task', async () => {
    const [one, other] = await openTwo(store(), await beside())
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, index) => create(index % 2 ? one : other, { idempotency_key: 'k' })),
    )
    expect(new Set(made.map((reply) => reply.task_id)).size).toBe(1)
    expect(made.filter((reply) => !reply.is_duplicate)).toHaveLength(1)
    expect((await one.receipts()).map((receipt) => receipt.receipt_type)).toEqual(['task.assigned'])
  })

  verifies('GUAR-1', 'calls that arrive together share a durable commit', async () => {
    const real = store()
    let commits = 0
    const counting = {
      ...real,
      transact: ((unit) => {
        commits += 1
        return real.transact(unit)
      }) as typeof real.transact,
    }
    const bench = await openBench(counting, BY_HAND)
    await Promise.all(Array.from({ length: 20 }, () => bench.call('createTask', { type: 'work' })))
    expect(commits).toBe(1)
  })

  verifies('LEASE-11', 'a task that no store could keep is refused in its own place', async () => {
    const bench = await open()
    const { tasks } = await bench.call('createTasks', {
      tasks: [
        { type: 'work', payload: { text: 'NUL \0' } },
        { type: 'work' },
        { type: 'work', summary: '\ud800' },
      ],
    })
    expect(tasks).toMatchObject([
      { error: 'invalid_input', field: 'payload.text' },
      { status: 'queued' },
      { error: 'invalid_input', field: 'summary' },
    ])
  })

  verifies(['TASK-2', 'LEASE-11'], 'a key repeated within one batch gives one task', async () => {
    const bench = await open()
    const item = { type: 'work', idempotency_key: 'k' }
    const { tasks } = await bench.call('createTasks', { tasks: [item, item, { ...item, priority: 1 }] })
    expect(tasks).toMatchObject([
      { is_duplicate: false },
      { is_duplicate: true, task_id: (tasks[0] as { task_id: string }).task_id },
      { error: 'idempotency_conflict' },
    ])
    expect(await bench.receipts()).toHaveLength(1)
  })

  verifies('TASK-3', 'a delayed task stays queued and is not leased before its time', async () => {
    const bench = await open()
    const taskId = await createId(bench, { delay_seconds: 60 })
    const dueAt = bench.clock.now() + 60_000
    expect(await task(bench, taskId)).toMatchObject({ status: 'queued', next_eligible_at: iso(dueAt) })
    await bench.clock.advance(59_999)
    expect(await claim(bench)).toEqual([])
    await bench.clock.advance(1)
    expect(await claimedIds(bench)).toEqual([taskId])
  })

  verifies('TASK-3', 'not_before sets the time itself', async () => {
    const bench = await open()
    const dueAt = iso(bench.clock.now() + 1_500)
    const taskId = await createId(bench, { not_before: dueAt })
    expect(await task(bench, taskId)).toMatchObject({ status: 'queued', next_eligible_at: dueAt })
    await bench.clock.advance(1_499)
    expect(await claim(bench)).toEqual([])
    await bench.clock.advance(1)
    expect(await claimedIds(bench)).toEqual([taskId])
  })

  verifies('TASK-3', 'of a delay and a not_before the later one counts', async () => {
    const bench = await open()
    const at = (ms: number) => iso(bench.clock.now() + ms)
    const early = await createId(bench, { delay_seconds: 60, not_before: at(1_000) })
    const late = await createId(bench, { delay_seconds: 1, not_before: at(60_000) })
    for (const id of [early, late]) expect((await task(bench, id)).next_eligible_at).toBe(at(60_000))
  })

  verifies('TASK-3', 'a not_before that has passed delays nothing', async () => {
    const bench = await open()
    const taskId = await createId(bench, { not_before: '2000-01-01T00:00:00Z' })
    expect((await task(bench, taskId)).next_eligible_at).toBe(iso(bench.clock.now()))
    expect(await claimedIds(bench)).toEqual([taskId])
  })

  verifies('TASK-5', 'what a client says of time decides nothing', async () => {
    const bench = await open()
    const lease = await leased(bench)
    const now = iso(bench.clock.now())
    const proof = { mode: 'push', target: 'x', status: 'sent', at: '1999-01-01T00:00:00Z', proof: null }
    const reply = await bench.call('complete', {
      ...held(lease),
      delivery_proof: proof,
      completion_metadata: { completed_at: '1999-01-01T00:00:00Z' },
    })
    expect(await task(bench, lease.task_id)).toMatchObject({
      status: 'succeeded',
      completed_at: now,
      result: { completed_at: now },
    })
    const receipt = await bench.call('getReceipt', { receipt_id: reply.receipt_id })
    expect(receipt.created_at).toBe(now)
  })

  verifies('TASK-5', 'no client sets the times of a task', async () => {
    const bench = await open()
    for (const field of ['created_at', 'updated_at', 'next_eligible_at', 'started_at', 'completed_at']) {
      const refusal = await bench.refusal('createTask', { type: 'work', [field]: '2020-01-01T00:00:00Z' })
      expect(refusal).toMatchObject({ code: 'invalid_input', details: { field } })
    }
  })

  verifies('TASK-5', 'all of a batch happens at one time', async () => {
    const bench = await open()
    await bench.call('createTasks', { tasks: Array.from({ length: 5 }, () => ({ type: 'work' })) })
    const leases = await claim(bench, { max_tasks: 5 })
    await bench.call('settle', {
      worker_id: 'w-1',
      outcomes: leases.map(({ task_id, lease_id }) => ({
        task_id,
        lease_id,
        action: 'complete',
        store_result: true,
      })),
    })
    const times = (await bench.receipts()).map((receipt) => receipt.created_at)
    expect(new Set(times).size).toBe(1)
    expect(new Set(leases.map((lease) => lease.expires_at)).size).toBe(1)
  })

  verifies(['TASK-1', 'TASK-3'], 'a new task has the values that the specification gives it', async () => {
    const bench = await open()
    const reply = await create(bench)
    const now = iso(bench.clock.now())
    expect(reply).toMatchObject({ status: 'queued', is_duplicate: false, inbox_on_complete: true })
    expect(await task(bench, reply.task_id)).toEqual({
      task_id: reply.task_id,
      type: 'work',
      payload: {},
      payload_pointer: null,
      summary: null,
      created_by: { principal_kind: 'agent', principal_id: 'default' },
      recipient: { principal_kind: 'agent', principal_id: 'default' },
      requirements: { capabilities: [], tags: [] },
      priority: 0,
      status: 'queued',
      attempt: 0,
      max_attempts: 3,
      retry_backoff_seconds: 30,
      expiries: 0,
      max_expiries: 20,
      fence: 0,
      idempotency_key: null,
      parent_task_id: null,
      caused_by_receipt_id: null,
      concurrency_key: null,
      concurrency_limit: null,
      timeout_seconds: null,
      deadline_at: null,
      depends_on: [],
      on_dependency_failure: 'cancel',
      expected_outcome_kind: null,
      expected_artifact_mime: null,
      metadata: {},
      created_at: now,
      updated_at: now,
      next_eligible_at: now,
      started_at: null,
      completed_at: null,
      assigned_receipt_id: reply.receipt_id,
      asyncgate_instance: bench.gate.instanceId,
      dead_letter: false,
      lease: null,
      progress: null,
      result: null,
    })
    expect(await receiptTypes(bench, reply.task_id)).toEqual(['task.assigned'])
  })
})
