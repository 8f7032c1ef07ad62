// The worker's last word, alone or in batches: said twice it is heard once, and each item stands alone.
import type { GateContract, Input } from '@asyncgate/sdk'
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
  evidence,
  held,
  leased,
  receiptTypes,
  refusedWithoutTrace,
  task,
  WORKER,
} from './scenes.ts'

type Settle = Input<GateContract['settle']>

const UNKNOWN = '01900000-0000-7000-8000-000000000000'
/** What names a lease within a settle. */
const named = ({ task_id, lease_id }: { task_id: string; lease_id: string }) => ({ task_id, lease_id })
const settle = (bench: Bench, outcomes: Settle['outcomes'], more: Partial<Settle> = {}) =>
  bench.call('settle', { worker_id: WORKER, outcomes, ...more })
const stored = (taskId: string) => ({ type: 'asyncgate', pointer: `asyncgate:result/${taskId}` })
const createMany = (bench: Bench, count: number) =>
  bench.call('createTasks', { tasks: Array.from({ length: count }, () => ({ type: 'work' })) })

onEveryStore('settle', (open, _kind, store) => {
  verifies('LEASE-11', 'what a settle claimed for a worker that has gone is given back', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    const next = await createId(bench)
    const body = { worker_id: WORKER, outcomes: [{ ...named(lease), action: 'release' as const }], claim: {} }
    expect(await bench.call('settle', body, { signal: AbortSignal.abort() })).toMatchObject({ tasks: [] })
    expect(await task(bench, next)).toMatchObject({ status: 'queued', attempt: 0, expiries: 0, fence: 1 })
  })

  verifies(['LEASE-9', 'GUAR-3'], 'the same completion again returns the first answer', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    const body = { ...held(lease), result: { a: 1 }, store_result: true, result_summary: 'done' }
    const first = await bench.call('complete', body)
    expect(first).toMatchObject({ ok: true, status: 'succeeded' })
    const before = await evidence(bench, lease.task_id)
    await bench.clock.advance(1_000_000)
    expect(await bench.call('complete', body)).toEqual(first)
    expect(await evidence(bench, lease.task_id)).toEqual(before)
  })

  verifies(['LEASE-9', 'OPS-5'], 'the order of keys does not make another completion', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    const first = await bench.call('complete', { ...held(lease), result: { a: 1, b: { c: 2, d: 3 } } })
    const again = await bench.call('complete', { result: { b: { d: 3, c: 2 }, a: 1 }, ...held(lease) })
    expect(again).toEqual(first)
  })

  verifies('LEASE-9', 'another completion is refused with the receipt that won', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    const { receipt_id } = await bench.call('complete', { ...held(lease), result: 1, store_result: true })
    const others = [
      { ...held(lease), result: 2, store_result: true },
      { ...held(lease), result: 1 },
      { ...held(lease), result: 1, store_result: true, result_summary: 'x' },
      { ...held(lease), result: 1, artifacts: [stored(lease.task_id)] },
    ]
    for (const other of others) {
      const refusal = await refusedWithoutTrace(bench, 'complete', other)
      expect(refusal).toMatchObject({ code: 'already_settled', status: 409, details: { receipt_id } })
    }
    expect((await task(bench, lease.task_id)).result?.result).toBe(1)
  })

  verifies(
    'LEASE-9',
    'that a result is stored may be said by an artifact, and is another completion',
    async () => {
      const bench = await open(BY_HAND)
      const lease = await leased(bench)
      const body = { ...held(lease), result: 1, artifacts: [stored(lease.task_id)] }
      const first = await bench.call('complete', body)
      expect(await bench.call('complete', body)).toEqual(first)
      const other = { ...held(lease), result: 1, store_result: true }
      expect(await refusedWithoutTrace(bench, 'complete', other)).toMatchObject({ code: 'already_settled' })
    },
  )

  verifies('LEASE-9', 'results that no receipt can hold are told apart as well', async () => {
    const bench = await open(BY_HAND)
    const large = (letter: string) => letter.repeat(70_000)
    // With so much beside it, the receipt does not even say what the result's hash is.
    for (const completion_metadata of [undefined, { filler: 'm'.repeat(65_300) }]) {
      const lease = await leased(bench)
      const body = { ...held(lease), result: large('a'), store_result: true, completion_metadata }
      const first = await bench.call('complete', body)
      expect(await bench.call('complete', body)).toEqual(first)
      const other = { ...body, result: large('b') }
      expect(await refusedWithoutTrace(bench, 'complete', other)).toMatchObject({ code: 'already_settled' })
    }
  })

  verifies('LEASE-9', 'completions at once give one outcome', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        bench.call('complete', { ...held(lease), result: index % 2, store_result: true }),
      ),
    )
    expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(10)
    expect((await receiptTypes(bench, lease.task_id)).slice(2)).toEqual([
      'task.completed',
      'task.result_ready',
    ])
  })

  verifies('LEASE-9', 'another worker does not get the answer of the first', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    const body = { result: 1, store_result: true }
    await bench.call('complete', { ...held(lease), ...body })
    const refusal = await refusedWithoutTrace(bench, 'complete', { ...held(lease, 'w-2'), ...body })
    expect(refusal).toMatchObject({ code: 'lease_invalid_or_expired', details: { task_status: 'succeeded' } })
  })

  verifies(
    ['OPS-5', 'GUAR-3'],
    'the same failure again returns the first answer, whatever became of the task',
    async () => {
      const bench = await open(BY_HAND)
      const lease = await leased(bench)
      const body = { ...held(lease), error: ERROR, retry_after_seconds: 5 }
      const first = await bench.call('fail', body)
      await bench.clock.advance(5_000)
      const next = await claimOne(bench)
      expect(await bench.call('fail', body)).toEqual(first)
      await bench.call('complete', { ...held(next), store_result: true })
      const before = await evidence(bench, lease.task_id)
      expect(await bench.call('fail', body)).toEqual(first)
      expect(await evidence(bench, lease.task_id)).toEqual(before)
      expect(before.task.attempt).toBe(1)
    },
  )

  verifies('OPS-5', 'a final failure again returns the first answer', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    const body = { ...held(lease), error: ERROR, retryable: false }
    const first = await bench.call('fail', body)
    const before = await evidence(bench, lease.task_id)
    expect(await bench.call('fail', body)).toEqual(first)
    expect(await evidence(bench, lease.task_id)).toEqual(before)
  })

  verifies('LEASE-9', 'a failure after the completion, and the reverse, are refused', async () => {
    const bench = await open(BY_HAND)
    const done = await leased(bench)
    await bench.call('complete', { ...held(done), store_result: true })
    const failed = await leased(bench)
    await bench.call('fail', { ...held(failed), error: ERROR, retryable: false })
    const late = await refusedWithoutTrace(bench, 'fail', { ...held(done), error: ERROR })
    const early = await refusedWithoutTrace(bench, 'complete', held(failed))
    expect([late.status, early.status]).toEqual([409, 409])
    expect([late.details['task_status'], early.details['task_status']]).toEqual(['succeeded', 'failed'])
  })

  verifies(
    'LEASE-11',
    'mixed outcomes each get the reply of their operation, in the order given',
    async () => {
      const bench = await open(BY_HAND)
      await createMany(bench, 6)
      const leases = await claim(bench, { max_tasks: 6 })
      const of = (index: number) => ({
        task_id: leases[index]!.task_id,
        lease_id: leases[index]!.lease_id,
      })
      await bench.clock.advance(1_000)
      const { outcomes, tasks } = await settle(bench, [
        { ...of(5), action: 'renew', extend_by_seconds: 60 },
        { ...of(0), action: 'complete', result: { a: 1 }, store_result: true },
        { ...of(1), lease_id: UNKNOWN, action: 'complete' },
        { ...of(2), action: 'fail', error: ERROR },
        { ...of(3), action: 'release' },
        { ...of(4), action: 'progress', progress: { percent: 5 } },
        { task_id: UNKNOWN, lease_id: UNKNOWN, action: 'release' },
        { ...of(1), action: 'fail', error: ERROR, retryable: false },
      ])
      const id = (index: number) => leases[index]!.task_id
      expect(outcomes).toEqual([
        { task_id: id(5), ok: true, expires_at: iso(bench.clock.now() + 60_000) },
        { task_id: id(0), ok: true, status: 'succeeded', receipt_id: expect.any(String) },
        expect.objectContaining({
          task_id: id(1),
          ok: false,
          error: 'lease_invalid_or_expired',
          retryable: false,
          message: expect.any(String),
          task_status: 'leased',
        }),
        { task_id: id(2), ok: true, requeued: true, next_eligible_at: iso(bench.clock.now() + 30_000) },
        { task_id: id(3), ok: true, status: 'queued' },
        { task_id: id(4), ok: true, expires_at: leases[4]!.expires_at },
        expect.objectContaining({ task_id: UNKNOWN, ok: false, error: 'not_found' }),
        { task_id: id(1), ok: true, requeued: false },
      ])
      expect(tasks).toEqual([])
      const statuses = await Promise.all(
        leases.map(async (lease) => (await task(bench, lease.task_id)).status),
      )
      expect(statuses).toEqual(['succeeded', 'failed', 'queued', 'queued', 'running', 'leased'])
    },
  )

  verifies('LEASE-11', 'outcomes and the next claim are one commit', async () => {
    let commits = 0
    const real = store()
    const counting = {
      ...real,
      transact: ((unit) => {
        commits += 1
        return real.transact(unit)
      }) as typeof real.transact,
    }
    const bench = await openBench(counting, BY_HAND)
    await createMany(bench, 10)
    const leases = await claim(bench, { max_tasks: 5 })
    commits = 0
    const outcomes = leases.map((lease) => ({ ...named(lease), action: 'complete' as const }))
    const { tasks } = await settle(bench, outcomes, { claim: { max_tasks: 5 } })
    expect([tasks.length, commits]).toEqual([5, 1])
  })

  verifies('LEASE-11', 'a settle may claim what it releases itself', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    const { tasks } = await settle(bench, [{ ...named(lease), action: 'release' }], { claim: {} })
    const again = tasks.length > 0 ? tasks : await claim(bench)
    expect(again).toMatchObject([{ task_id: lease.task_id, fence: 2 }])
  })

  verifies(['LEASE-11', 'LEASE-8'], 'a settle frees the capacity that its own claim needs', async () => {
    const bench = await open(BY_HAND)
    await create(bench)
    const lease = await claimOne(bench, { capacity: 1 })
    const next = await createId(bench)
    const { tasks } = await settle(bench, [{ ...named(lease), action: 'complete' }], {
      claim: { capacity: 1 },
    })
    expect(tasks.map((found) => found.task_id)).toEqual([next])
  })

  verifies('LEASE-11', 'a malformed outcome fails in its own place, and the others stand', async () => {
    const bench = await open(BY_HAND)
    await createMany(bench, 2)
    const [one, two] = await claim(bench, { max_tasks: 2 })
    const outcomes = [
      { ...named(one!), action: 'explode' },
      { ...named(one!), action: 'complete', unheard_of: true },
      'not even an object',
      { ...named(one!), action: 'fail' },
      { task_id: 'not-an-id', lease_id: one!.lease_id, action: 'release' },
      { ...named(one!), action: 'complete', result: { text: 'NUL \0' } },
      { ...named(one!), action: 'complete', result: { 'half \ud800': 1 } },
      { ...named(two!), action: 'complete', store_result: true },
    ] as unknown as Settle['outcomes']
    const reply = await settle(bench, outcomes)
    expect(reply.outcomes.map((outcome) => ('error' in outcome ? outcome.error : 'ok'))).toEqual([
      ...Array.from({ length: 7 }, () => 'invalid_input'),
      'ok',
    ])
    expect(reply.outcomes.map((outcome) => outcome.task_id)).toEqual([
      one!.task_id,
      one!.task_id,
      null,
      one!.task_id,
      'not-an-id',
      one!.task_id,
      one!.task_id,
      two!.task_id,
    ])
    expect((await task(bench, one!.task_id)).status).toBe('leased')
    expect((await task(bench, two!.task_id)).status).toBe('succeeded')
  })

  verifies('LEASE-11', 'an outcome that is too large fails alone', async () => {
    const bench = await open({ ...BY_HAND, task: { max_payload_bytes: 2_000 } })
    await createMany(bench, 3)
    const [one, two, three] = await claim(bench, { max_tasks: 3 })
    const { outcomes } = await settle(bench, [
      { ...named(one!), action: 'complete', result: 'x'.repeat(2_000) },
      { ...named(two!), action: 'progress', progress: { text: 'x'.repeat(2_000) } },
      { ...named(three!), action: 'complete', result: 'x', store_result: true },
    ])
    expect(outcomes).toMatchObject([
      { task_id: one!.task_id, ok: false, error: 'payload_too_large' },
      { task_id: two!.task_id, ok: false, error: 'payload_too_large' },
      { task_id: three!.task_id, ok: true },
    ])
  })

  verifies(['LEASE-11', 'GUAR-3'], 'the same settle again returns the same outcomes', async () => {
    const bench = await open(BY_HAND)
    await createMany(bench, 3)
    const [one, two, three] = await claim(bench, { max_tasks: 3 })
    const outcomes: Settle['outcomes'] = [
      { ...named(one!), action: 'complete', result: 1, store_result: true },
      { ...named(two!), action: 'fail', error: ERROR },
      { ...named(three!), action: 'release' },
    ]
    const first = await settle(bench, outcomes)
    const before = await bench.receipts()
    expect(await settle(bench, outcomes)).toEqual(first)
    expect(await bench.receipts()).toEqual(before)
  })

  verifies('LEASE-11', 'one outcome twice in a settle is one outcome', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    const outcome = { ...named(lease), action: 'complete' as const, result: 1, store_result: true }
    const { outcomes } = await settle(bench, [outcome, outcome, { ...outcome, result: 2 }])
    expect(outcomes[1]).toEqual(outcomes[0])
    expect(outcomes[2]).toMatchObject({ ok: false, error: 'already_settled' })
    expect((await receiptTypes(bench, lease.task_id)).slice(2)).toEqual([
      'task.completed',
      'task.result_ready',
    ])
  })

  verifies('LEASE-11', 'a settle takes 1000 outcomes, and not 1001', async () => {
    const bench = await open(BY_HAND)
    await createMany(bench, 1_000)
    await create(bench)
    const leases = await claim(bench, { max_tasks: 1_000 })
    const outcomes = leases.map((lease) => ({ ...named(lease), action: 'complete' as const }))
    const refusal = await bench.refusal('settle', {
      worker_id: WORKER,
      outcomes: [...outcomes, outcomes[0]],
    })
    expect(refusal).toMatchObject({ code: 'invalid_input', details: { field: 'outcomes' } })
    const reply = await settle(bench, outcomes, { claim: { max_tasks: 1_000 } })
    expect(reply.outcomes.every((outcome) => outcome.ok)).toBe(true)
    expect(reply.outcomes.map((outcome) => outcome.task_id)).toEqual(leases.map((lease) => lease.task_id))
    expect(reply.tasks).toHaveLength(1)
  })

  verifies('LEASE-11', 'an empty settle is no error', async () => {
    const bench = await open(BY_HAND)
    expect(await settle(bench, [])).toEqual({ outcomes: [], tasks: [] })
    const taskId = await createId(bench)
    expect((await settle(bench, [], { claim: {} })).tasks.map((found) => found.task_id)).toEqual([taskId])
  })

  verifies('LEASE-11', 'the claim of a settle takes what a claim takes', async () => {
    const bench = await open(BY_HAND)
    await createId(bench, { type: 'other', priority: 5 })
    const taskId = await createId(bench, { requirements: { capabilities: ['gpu'] } })
    const next = { accept_types: ['work'], capabilities: ['GPU'], lease_ttl_seconds: 60 }
    const { tasks } = await settle(bench, [], { claim: next })
    expect(tasks).toMatchObject([{ task_id: taskId, expires_at: iso(bench.clock.now() + 60_000) }])
    for (const bad of [{ max_tasks: 1_001 }, { wait_seconds: 61 }, { worker_id: 'other' }]) {
      const refusal = await bench.refusal('settle', { worker_id: WORKER, claim: bad })
      expect(refusal.code).toBe('invalid_input')
    }
  })

  verifies('LEASE-11', 'tasks of a batch are created or refused each alone, in the order given', async () => {
    const bench = await open(BY_HAND)
    const tasks = [
      { type: 'work', payload: { n: 0 } },
      { type: '' },
      { type: 'work', depends_on: [UNKNOWN] },
      { type: 'work', status: 'succeeded' },
      { type: 'work', payload: { n: 4 } },
    ] as Input<GateContract['createTasks']>['tasks']
    const reply = await bench.call('createTasks', { tasks })
    expect(reply.tasks).toMatchObject([
      { status: 'queued', is_duplicate: false },
      { error: 'invalid_input', message: expect.stringContaining('type') },
      { error: 'not_found' },
      { error: 'invalid_input', message: expect.stringContaining('status') },
      { status: 'queued', is_duplicate: false },
    ])
    expect((await claim(bench, { max_tasks: 10 })).map((found) => found.payload)).toEqual([
      { n: 0 },
      { n: 4 },
    ])
  })

  verifies('LEASE-11', 'a batch creates 1000 tasks, and not 1001', async () => {
    const bench = await open(BY_HAND)
    const refusal = await bench.refusal('createTasks', {
      tasks: Array.from({ length: 1_001 }, () => ({ type: 'work' })),
    })
    expect(refusal).toMatchObject({ code: 'invalid_input', details: { field: 'tasks' } })
    expect(await bench.receipts()).toEqual([])
    const { tasks } = await createMany(bench, 1_000)
    expect(new Set(tasks.map((reply) => (reply as { task_id: string }).task_id)).size).toBe(1_000)
    expect(await claimedIds(bench, { max_tasks: 1_000 })).toHaveLength(1_000)
  })

  verifies('GUAR-3', 'every other write can be repeated without harm', async () => {
    const bench = await open(BY_HAND)
    const done = await leased(bench)
    await bench.call('complete', { ...held(done), result: 1 })
    const { task_id } = done
    const attach = { task_id, artifacts: [{ url: 'https://example.org/x' }] }
    expect(await bench.call('attachArtifacts', attach)).toEqual(await bench.call('attachArtifacts', attach))
    const assigned = (await bench.receipts(task_id))[0]!
    const ack = { receipt_id: assigned.receipt_id }
    expect(await bench.call('ackReceipt', ack)).toEqual(await bench.call('ackReceipt', ack))
    const submit = { receipt_type: 'x.note', to: { kind: 'agent', id: 'default' }, body: { a: 1 } } as const
    const first = await bench.call('submitReceipt', submit)
    expect(await bench.call('submitReceipt', submit)).toEqual({ ...first, is_duplicate: true })
    const pending = await createId(bench)
    expect(await bench.call('cancelTask', { task_id: pending })).toEqual({ ok: true, status: 'canceled' })
    const receipts = await bench.receipts()
    expect(await bench.call('cancelTask', { task_id: pending })).toEqual({ ok: false, status: 'canceled' })
    expect(await bench.receipts()).toEqual(receipts)
  })

  verifies('OPS-5', 'two acknowledgements of one principal give one receipt, of two give two', async () => {
    const bench = await open(BY_HAND)
    const { receipt_id } = await create(bench)
    const ack = (principal_id: string) => bench.call('ackReceipt', { receipt_id, principal_id })
    const replies = await Promise.all(['alice', 'alice', 'bob'].map(ack))
    expect(new Set(replies.map((reply) => reply.receipt_id)).size).toBe(2)
    expect(await bench.receipts()).toHaveLength(3)
  })
})
