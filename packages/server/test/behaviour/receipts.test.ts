// Receipts: what is recorded, for whom, with which hash, within which limits, and that it stays.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { contract } from '@asyncgate/sdk'
import { Client } from 'pg'
import { expect } from 'vitest'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createSqliteStore } from '../../src/store/sqlite/index.ts'
import { createDatabase } from '../database.ts'
import { recomputeHash } from '../receipt-hash.ts'
import { verifies } from '../requirements.ts'
import { type Bench, onEveryStore, openBench } from './harness.ts'
import { ALICE, BOB, everything, hold, type Holding, ofType, queue, take } from './steps.ts'

const SYSTEM = { kind: 'system', id: 'asyncgate' }
const TERMINAL = ['task.completed', 'task.failed', 'task.canceled']
const text = (bytes: number) => 'a'.repeat(bytes)
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/** Leases 10 s long, so that losing one is a matter of seconds; the sweep runs when a test says so. */
const SHORT = { lease: { default_ttl_seconds: 10, sweep_interval_seconds: 3_600 } }

async function loseLease(bench: Bench): Promise<void> {
  await bench.clock.advance(10_000)
  await bench.gate.sweep()
  await bench.clock.advance(5_000) // the longest that jitter keeps a task away
}

/** Every kind of receipt that a task can leave behind, but failure and cancellation. */
async function eventfulTask(bench: Bench): Promise<string> {
  const { task_id } = await queue(bench, { ...ALICE, recipient: BOB, summary: 'a report' })
  await bench.call('fail', { ...(await take(bench)), error: { code: 'busy', message: 'later' } })
  await bench.clock.advance(30_000)
  await take(bench, { capabilities: ['GPU', 'eu'] })
  await loseLease(bench)
  const artifacts = [{ url: 'https://example.org/report' }]
  const result = { pages: 3 }
  await bench.call('complete', { ...(await take(bench)), result, artifacts, result_summary: 'done' })
  const ready = ofType(await bench.receipts(task_id), 'task.result_ready')[0]!
  await bench.call('ackReceipt', { ...BOB, receipt_id: ready.receipt_id })
  return task_id
}

/** Every way in which a task ends, as far as its terminal receipt. */
const ENDINGS: readonly (readonly [string, string, (bench: Bench) => Promise<string>])[] = [
  ['completion', 'task.completed', async (bench) => completed(bench, { store_result: true })],
  ['completion without a location', 'task.completed', async (bench) => completed(bench, {})],
  ['a failure that is final', 'task.failed', async (bench) => failed(bench, 3, false)],
  ['the last attempt', 'task.failed', async (bench) => failed(bench, 1, true)],
  ['cancellation while queued', 'task.canceled', async (bench) => canceled(bench, await queue(bench))],
  ['cancellation while leased', 'task.canceled', async (bench) => canceled(bench, await hold(bench))],
  ['the deadline', 'task.failed', missedDeadline],
  ['the last execution timeout', 'task.failed', timedOut],
  ['too many lost leases', 'task.failed', poisoned],
  ['a dependency that is canceled', 'task.canceled', lostDependency],
  ['a dependency that had been canceled', 'task.canceled', stillborn],
]

async function completed(bench: Bench, how: object): Promise<string> {
  const { holding } = await hold(bench)
  await bench.call('complete', { ...holding, ...how })
  return holding.task_id
}

async function failed(bench: Bench, max_attempts: number, retryable: boolean): Promise<string> {
  const { holding } = await hold(bench, { max_attempts })
  await bench.call('fail', { ...holding, error: { code: 'broken', message: 'no' }, retryable })
  return holding.task_id
}

async function canceled(bench: Bench, { task_id }: { task_id: string }): Promise<string> {
  await bench.call('cancelTask', { task_id, reason: 'not wanted' })
  return task_id
}

async function missedDeadline(bench: Bench): Promise<string> {
  const { task_id } = await queue(bench, { deadline_at: new Date(bench.clock.now() + 1_000).toISOString() })
  await bench.clock.advance(1_000)
  await bench.gate.sweep()
  return task_id
}

async function timedOut(bench: Bench): Promise<string> {
  const { task_id } = await hold(bench, { timeout_seconds: 5, max_attempts: 1 })
  await bench.clock.advance(5_000)
  await bench.gate.sweep()
  return task_id
}

async function poisoned(bench: Bench): Promise<string> {
  const { task_id } = await hold(bench, { max_expiries: 1 })
  await loseLease(bench)
  await take(bench)
  await loseLease(bench)
  return task_id
}

async function lostDependency(bench: Bench): Promise<string> {
  const first = await queue(bench)
  const { task_id } = await queue(bench, { depends_on: [first.task_id] })
  await canceled(bench, first)
  return task_id
}

async function stillborn(bench: Bench): Promise<string> {
  const first = await queue(bench)
  await canceled(bench, first)
  return (await queue(bench, { depends_on: [first.task_id] })).task_id
}

onEveryStore('receipts', (open) => {
  verifies('RCPT-1', 'what was recorded stays, whatever is done afterwards', async () => {
    const bench = await open(SHORT)
    const task_id = await eventfulTask(bench)
    const before = await bench.receipts()
    for (const [, , end] of ENDINGS) await end(bench)
    const dead = await failed(bench, 1, true)
    await bench.call('retryTask', { task_id: dead })
    await bench.call('cancelTask', { task_id })
    await bench.call('ackReceipt', { receipt_id: before[0]!.receipt_id })
    await bench.clock.advance(25 * 60 * 60 * 1_000)
    await bench.gate.sweep()
    expect((await bench.receipts()).slice(0, before.length)).toEqual(before)
  })

  verifies('RCPT-1', 'no operation is there that changes or deletes a receipt', () => {
    const writing = Object.values(contract).filter(({ route }) => /\/v1\/receipts/.test(route))
    expect(writing.map(({ route }) => route)).toEqual([
      'POST /v1/receipts/check-terminator',
      'GET /v1/receipts',
      'GET /v1/receipts/{receipt_id}',
      'POST /v1/receipts/{receipt_id}/ack',
      'POST /v1/receipts',
    ])
  })

  verifies('RCPT-2', 'a refused change leaves no receipt, and a refused receipt no change', async () => {
    const bench = await open()
    const { holding, task_id } = await hold(bench)
    const before = await everything(bench, task_id)
    const artifacts = [{ url: text(65_536) }]
    const refused = await bench.refusal('complete', { ...holding, artifacts })
    expect(refused.code).toBe('receipt_too_large')
    expect(await everything(bench, task_id)).toEqual(before)
    expect(await bench.call('complete', { ...holding, store_result: true })).toMatchObject({ ok: true })
  })

  verifies('RCPT-2', 'no reader ever sees a terminal task without its receipts, or the reverse', async () => {
    const bench = await open()
    const tasks = Array.from({ length: 40 }, () => ({ type: 'work' }))
    await bench.call('createTasks', { tasks })
    const { tasks: leased } = await bench.call('leaseNext', { worker_id: 'w1', max_tasks: 40 })
    let running = true
    const readers = [readTaskFirst(), readReceiptFirst()]
    await Promise.all(
      leased.map(({ task_id, lease_id }) =>
        bench.call('complete', { worker_id: 'w1', task_id, lease_id, store_result: true }),
      ),
    )
    running = false
    await Promise.all(readers)

    async function readTaskFirst() {
      for (let at = 0; running; at = (at + 1) % leased.length) {
        const { task_id } = leased[at]!
        const { status } = await bench.call('getTask', { task_id })
        const types = (await bench.receipts(task_id)).map((receipt) => receipt.receipt_type)
        if (status === 'succeeded') expect(types).toContain('task.result_ready')
      }
    }
    async function readReceiptFirst() {
      while (running) {
        const ready = ofType(await bench.receipts(), 'task.result_ready').at(-1)
        if (ready === undefined) continue
        const { status } = await bench.call('getTask', { task_id: ready.task_id! })
        expect(status).toBe('succeeded')
      }
    }
  })

  verifies('RCPT-3', 'every hash can be recomputed from the receipt alone', async () => {
    const bench = await open(SHORT)
    await eventfulTask(bench)
    for (const [, , end] of ENDINGS) await end(bench)
    const receipts = await bench.receipts()
    expect(new Set(receipts.map((receipt) => receipt.receipt_type)).size).toBeGreaterThan(9)
    expect(receipts.map((receipt) => receipt.hash)).toEqual(receipts.map(recomputeHash))
  })

  verifies(
    'RCPT-3',
    'unusual keys, texts and numbers come back from the store as they were hashed',
    async () => {
      const bench = await open()
      const body = {
        '\u20ac': 'Euro',
        '\r': 'return',
        '\ufb33': 'dalet',
        '1': 'one',
        '😀': 'face',
        '\u0080': 'control',
        ö: 'umlaut',
        '': 'no key',
        numbers: [
          1e21, -0, 0, 0.1, 1e-7, 5e-324, 1.7976931348623157e308, -9007199254740992, 123456789012345680000,
        ],
        nested: [[{ b: { d: [], c: {} }, a: [null, true, false] }]],
        text: 'line\u2028separator "quoted" \\ \u0001 \u007f \ud83d\ude00 é e\u0301',
      }
      const { receipt_id, hash } = await bench.call('submitReceipt', {
        receipt_type: 'x.vector',
        to: { kind: 'human', id: 'bøb' },
        body,
      })
      const receipt = await bench.call('getReceipt', { receipt_id })
      expect(JSON.parse(JSON.stringify(receipt.body))).toEqual({
        schema_version: '1',
        ...JSON.parse(JSON.stringify(body)),
      })
      expect([receipt.hash, recomputeHash(receipt)]).toEqual([hash, hash])
    },
  )

  verifies('RCPT-3', 'equal facts hash equal on every store', async () => {
    const bench = await open()
    const { hash } = await bench.call('submitReceipt', {
      ...ALICE,
      receipt_type: 'x.vector',
      to: { kind: 'human', id: 'bob' },
      schedule_id: 's-1',
      body: { ö: [1e21, -0, 0.1], a: { c: null, b: '😀' } },
    })
    // SHA-256 of {"body":{"a":{"b":"😀","c":null},"schema_version":"1","ö":[1e+21,0,0.1]},"from":{"id":"alice",…
    expect(hash).toBe('f805fce8bc05e0ccef258b7aef4d053a6bd454620c5c2ef4233da048e919c56e')
  })

  verifies('RCPT-4', 'a fact that is reported again is the first receipt', async () => {
    const bench = await open(SHORT)
    const { holding, receipt_id, task_id } = await hold(bench)
    const twice = async <T>(act: () => Promise<T>) => expect(await act()).toEqual(await act())
    await twice(() => bench.call('ackReceipt', { ...ALICE, receipt_id }))
    await twice(() => bench.call('complete', { ...holding, result: 1 }))
    await twice(() => bench.call('attachArtifacts', { task_id, artifacts: [{ key: 'k' }] }))
    await loseLease(bench)
    await bench.gate.sweep()
    const receipts = await bench.receipts()
    expect(new Set(receipts.map((receipt) => receipt.receipt_key)).size).toBe(receipts.length)
    expect(receipts.map((receipt) => receipt.receipt_type)).toEqual([
      'task.assigned',
      'task.accepted',
      'receipt.acknowledged',
      'task.completed',
      'task.result_ready',
      'system.anomaly',
      'task.completed',
    ])
  })

  verifies('RCPT-4', 'twenty acknowledgements at once are one receipt', async () => {
    const bench = await open()
    const { receipt_id } = await queue(bench)
    const acks = await Promise.all(
      Array.from({ length: 20 }, () => bench.call('ackReceipt', { ...BOB, receipt_id })),
    )
    expect(new Set(acks.map((ack) => ack.receipt_id)).size).toBe(1)
    expect(ofType(await bench.receipts(), 'receipt.acknowledged')).toHaveLength(1)
  })

  verifies('RCPT-4', 'two principals acknowledge one receipt each for themselves', async () => {
    const bench = await open()
    const { receipt_id } = await queue(bench)
    const alice = await bench.call('ackReceipt', { ...ALICE, receipt_id })
    const bob = await bench.call('ackReceipt', { ...BOB, receipt_id })
    expect(alice.receipt_id).not.toBe(bob.receipt_id)
  })

  verifies('RCPT-9', 'a task has no result_ready before it has ended', async () => {
    const bench = await open(SHORT)
    await queue(bench)
    await bench.call('fail', { ...(await take(bench)), error: { code: 'busy', message: '' } })
    await bench.clock.advance(30_000)
    await take(bench)
    await loseLease(bench)
    const { worker_id, task_id, lease_id } = await take(bench)
    await bench.call('reportProgress', { worker_id, task_id, lease_id, progress: { percent: 99 } })
    const types = (await bench.receipts(task_id)).map((receipt) => receipt.receipt_type)
    expect(types.filter((type) => [...TERMINAL, 'task.result_ready'].includes(type))).toEqual([])
  })

  for (const [what, type, end] of ENDINGS) {
    verifies('RCPT-9', `one result_ready goes with one terminal receipt: ${what}`, async () => {
      const bench = await open(SHORT)
      const task_id = await end(bench)
      const { status, completed_at } = await bench.call('getTask', { task_id })
      await bench.call('cancelTask', { task_id })
      await bench.gate.sweep()
      const receipts = await bench.receipts(task_id)
      const terminal = receipts.filter((receipt) => TERMINAL.includes(receipt.receipt_type))
      expect(terminal).toMatchObject([{ receipt_type: type, created_at: completed_at }])
      expect(ofType(receipts, 'task.result_ready')).toMatchObject([
        {
          parents: [terminal[0]!.receipt_id],
          from: SYSTEM,
          to: { kind: 'agent', id: 'default' },
          created_at: completed_at,
          body: { status, how_to_retrieve: { operation: 'get_task', task_id, field: 'result' } },
        },
      ])
    })
  }

  verifies(
    'RCPT-9',
    'each receipt of a task goes from whom to whom, with its parent and its body',
    async () => {
      const bench = await open(SHORT)
      const task_id = await eventfulTask(bench)
      const receipts = await bench.receipts()
      const [alice, bob, worker] = [
        { kind: 'agent', id: 'alice' },
        { kind: 'human', id: 'bob' },
        { kind: 'worker', id: 'w1' },
      ]
      const id = (at: number) => receipts[at]!.receipt_id
      const artifacts = [{ url: 'https://example.org/report' }]
      expect(
        receipts.map(({ receipt_type, from, to, parents }) => [receipt_type, from, to, parents]),
      ).toEqual([
        ['task.assigned', alice, bob, []],
        ['task.accepted', worker, SYSTEM, [id(0)]],
        ['task.retry_scheduled', worker, SYSTEM, [id(0)]],
        ['task.accepted', worker, SYSTEM, [id(0)]],
        ['lease.expired', SYSTEM, alice, [id(0)]],
        ['task.accepted', worker, SYSTEM, [id(0)]],
        ['task.completed', worker, bob, [id(0)]],
        ['task.result_ready', SYSTEM, bob, [id(6)]],
        ['receipt.acknowledged', bob, SYSTEM, [id(7)]],
      ])
      const error = { code: 'busy', message: 'later' }
      const lost = { task_id, previous_worker_id: 'w1', attempt: 1, expiries: 1, requeued: true }
      expect(receipts.map((receipt) => receipt.body)).toMatchObject([
        { instructions: { type: 'work', summary: 'a report' }, requirements: { capabilities: [], tags: [] } },
        { worker_capabilities: [] },
        { error, attempt: 1, max_attempts: 3 },
        { worker_capabilities: ['eu', 'gpu'] },
        lost,
        {},
        { result_summary: 'done', result_payload: { pages: 3 }, artifacts },
        { status: 'succeeded', result_payload: { pages: 3 }, artifacts },
        { schema_version: '1' },
      ])
      expect(receipts.every(({ body }) => body.schema_version === '1')).toBe(true)
      expect(receipts.slice(0, 8).every((receipt) => receipt.task_id === task_id)).toBe(true)
    },
  )

  verifies('RCPT-9', 'failure and cancellation say why', async () => {
    const bench = await open()
    const { holding } = await hold(bench, ALICE)
    const error = { code: 'broken', message: 'no', at: [1, 2] }
    await bench.call('fail', { ...holding, error, retryable: false })
    const { task_id } = await queue(bench, ALICE)
    await bench.call('cancelTask', { ...BOB, task_id, reason: 'not wanted' })
    const receipts = await bench.receipts()
    expect(ofType(receipts, 'task.failed')).toMatchObject([
      { from: { id: 'w1' }, to: { id: 'alice' }, body: { error, retry_recommended: false } },
    ])
    expect(ofType(receipts, 'task.canceled')).toMatchObject([
      { from: { kind: 'human', id: 'bob' }, to: { id: 'alice' }, body: { reason: 'not wanted' } },
    ])
    expect(ofType(receipts, 'task.result_ready')).toMatchObject([
      { body: { status: 'failed', error } },
      { body: { status: 'canceled', error: { code: 'canceled', message: 'not wanted' } } },
    ])
  })
})

/** A completion whose receipt has a body of exactly so many bytes, by way of a filler. */
async function completionOf(bytes: number, bench: Bench, holding: Holding) {
  const probe = { ...holding, store_result: true, result: null, completion_metadata: { filler: '' } }
  const body = {
    schema_version: '1',
    result_summary: null,
    artifacts: [{ type: 'asyncgate', pointer: `asyncgate:result/${holding.task_id}` }],
    completion_metadata: { filler: '' },
    result_payload: null,
  }
  const filler = text(bytes - bytesOf(body))
  return bench.call('complete', { ...probe, completion_metadata: { filler } })
}

onEveryStore('limits of receipts', (open) => {
  const submit = (bench: Bench, body: object, parents: string[] = []) => ({
    key: 'submitReceipt' as const,
    input: { receipt_type: 'x.note', to: { kind: 'agent' as const, id: 'a' }, body: { ...body }, parents },
    bench,
  })
  const bodyOf = (bytes: number) => ({ text: text(bytes - bytesOf({ schema_version: '1', text: '' })) })
  const accepted = ({ bench, key, input }: ReturnType<typeof submit>) => bench.call(key, input)
  const refused = ({ bench, key, input }: ReturnType<typeof submit>) => bench.refusal(key, input)

  verifies(
    ['RCPT-6', 'OPS-6'],
    'a body of exactly 65,536 bytes, schema_version included, is taken',
    async () => {
      const bench = await open()
      const { receipt_id } = await accepted(submit(bench, bodyOf(65_536)))
      const { body } = await bench.call('getReceipt', { receipt_id })
      expect(bytesOf(body)).toBe(65_536)
    },
  )

  verifies('RCPT-6', 'a body of 65,537 bytes is refused, and nothing is recorded', async () => {
    const bench = await open()
    const error = await refused(submit(bench, bodyOf(65_537)))
    expect(error).toMatchObject({ code: 'receipt_too_large', status: 413 })
    expect(error.message).toContain('Receipt bodies are contracts, not chat messages.')
    expect(await bench.receipts()).toEqual([])
  })

  verifies('RCPT-6', 'bytes are counted, not characters', async () => {
    const bench = await open()
    const over = { text: '€'.repeat(21_836) } // 65,508 bytes and what stands around them
    expect(bytesOf({ schema_version: '1', ...over })).toBe(65_540)
    expect(await refused(submit(bench, over))).toMatchObject({ code: 'receipt_too_large' })
    await accepted(submit(bench, { text: '€'.repeat(21_834) }))
  })

  verifies('RCPT-6', 'ten parents are taken, eleven are not', async () => {
    const bench = await open()
    const tasks = Array.from({ length: 11 }, () => ({ type: 'work' }))
    await bench.call('createTasks', { tasks })
    const ids = (await bench.receipts()).map((receipt) => receipt.receipt_id)
    await accepted(submit(bench, {}, ids.slice(0, 10)))
    const error = await refused(submit(bench, {}, ids))
    expect(error).toMatchObject({ code: 'receipt_too_large' })
    expect(error.message).toContain('Receipt bodies are contracts, not chat messages.')
    expect(await bench.receipts()).toHaveLength(12)
  })

  verifies('RCPT-6', 'far too many parents are too large as well, whether they exist or not', async () => {
    const bench = await open()
    const ids = Array.from({ length: 5_000 }, (_, index) => {
      return `0197c5a4-7d2e-7c11-9d3a-${index.toString(16).padStart(12, '0')}`
    })
    expect(await refused(submit(bench, {}, ids))).toMatchObject({ code: 'receipt_too_large' })
  })

  verifies('RCPT-6', 'a parent named twice counts once', async () => {
    const bench = await open()
    const { receipt_id } = await queue(bench)
    const { receipt_id: note } = await accepted(submit(bench, {}, Array(11).fill(receipt_id)))
    expect(await bench.call('getReceipt', { receipt_id: note })).toMatchObject({ parents: [receipt_id] })
  })

  verifies(
    'RCPT-6',
    'a hundred artifacts are taken, a hundred and one leave the task as it was',
    async () => {
      const bench = await open()
      const { holding, task_id } = await hold(bench)
      const artifacts = Array.from({ length: 101 }, (_, index) => ({ key: `k${index}` }))
      const before = await everything(bench, task_id)
      const error = await bench.refusal('complete', { ...holding, artifacts })
      expect(error).toMatchObject({ code: 'receipt_too_large' })
      expect(await everything(bench, task_id)).toEqual(before)
      await bench.call('complete', { ...holding, artifacts: artifacts.slice(1) })
      expect((await bench.call('getTask', { task_id })).result?.artifacts).toHaveLength(100)
    },
  )

  verifies('RCPT-6', 'attached artifacts have the same limit', async () => {
    const bench = await open()
    const { holding, task_id } = await hold(bench)
    await bench.call('complete', holding)
    const artifacts = Array.from({ length: 101 }, (_, index) => ({ key: `k${index}` }))
    const before = await everything(bench, task_id)
    expect(await bench.refusal('attachArtifacts', { task_id, artifacts })).toMatchObject({
      code: 'receipt_too_large',
    })
    expect(await everything(bench, task_id)).toEqual(before)
    expect(await bench.call('attachArtifacts', { task_id, artifacts: artifacts.slice(1) })).toMatchObject({
      ok: true,
    })
  })

  verifies('RCPT-6', 'a completion may fill its receipt to the last byte with its result in it', async () => {
    const bench = await open()
    const { holding } = await hold(bench)
    const { receipt_id } = await completionOf(65_536, bench, holding)
    const { body } = await bench.call('getReceipt', { receipt_id })
    expect(bytesOf(body)).toBe(65_536)
    expect(body).toHaveProperty('result_payload', null)
  })

  verifies('RCPT-6', 'a byte more, and the receipt says how to retrieve the result instead', async () => {
    const bench = await open()
    const { holding, task_id } = await hold(bench)
    const result = { text: text(65_536) }
    const { receipt_id } = await bench.call('complete', { ...holding, result, store_result: true })
    const how = { operation: 'get_task', task_id, field: 'result' }
    const completed = await bench.call('getReceipt', { receipt_id })
    const ready = ofType(await bench.receipts(task_id), 'task.result_ready')[0]!
    for (const { body } of [completed, ready]) {
      expect(body).toMatchObject({ how_to_retrieve: how })
      expect(body).not.toHaveProperty('result_payload')
      expect(bytesOf(body)).toBeLessThan(1_000)
    }
    expect((await bench.call('getTask', { task_id })).result?.result).toEqual(result)
  })

  verifies('RCPT-6', 'a completion that is too large without its result is refused', async () => {
    const bench = await open()
    const { holding, task_id } = await hold(bench)
    const before = await everything(bench, task_id)
    const completion_metadata = { text: text(65_536) }
    expect(await bench.refusal('complete', { ...holding, completion_metadata })).toMatchObject({
      code: 'receipt_too_large',
    })
    expect(await everything(bench, task_id)).toEqual(before)
  })

  verifies('RCPT-6', 'an error that does not fit its receipt is refused, and the lease stays', async () => {
    const bench = await open()
    const { holding, task_id } = await hold(bench)
    const before = await everything(bench, task_id)
    const error = { code: 'broken', message: '', trace: text(65_536) }
    for (const retryable of [true, false]) {
      const refusal = await bench.refusal('fail', { ...holding, error, retryable })
      expect(refusal).toMatchObject({ code: 'receipt_too_large' })
    }
    expect(await everything(bench, task_id)).toEqual(before)
  })

  verifies('RCPT-6', 'a contract that does not fit its receipt makes no task', async () => {
    const bench = await open()
    const success_criteria = text(65_536)
    expect(await bench.refusal('createTask', { type: 'work', success_criteria })).toMatchObject({
      code: 'receipt_too_large',
    })
    expect((await bench.call('listTasks', {})).tasks).toEqual([])
  })

  verifies('RCPT-6', 'in a batch only the item that does not fit is refused', async () => {
    const bench = await open()
    const { tasks } = await bench.call('createTasks', {
      tasks: [{ type: 'a' }, { type: 'b', success_criteria: text(65_536) }, { type: 'c' }],
    })
    expect(tasks).toMatchObject([{ status: 'queued' }, { error: 'receipt_too_large' }, { status: 'queued' }])
    const types = (await bench.call('listTasks', {})).tasks.map((task) => task.type)
    expect(types).toEqual(['c', 'a'])
  })

  verifies('RCPT-6', 'capabilities too long for a receipt do not keep a worker from its work', async () => {
    const bench = await open()
    await queue(bench, { requirements: { capabilities: ['gpu'] } })
    // A hundred names of 200 characters that JSON writes with six bytes each.
    const many = Array.from({ length: 99 }, (_, index) => `${'\u0001'.repeat(197)}${index}`)
    await take(bench, { capabilities: ['GPU', ...many] })
    const accepted = ofType(await bench.receipts(), 'task.accepted')
    expect(accepted).toMatchObject([{ body: { worker_capabilities: ['gpu'] } }])
  })

  verifies('OPS-6', 'a payload of exactly 1 MiB is taken, and one byte more is not', async () => {
    const bench = await open()
    const payload = { text: text(1_048_576 - bytesOf({ text: '' })) }
    expect(bytesOf(payload)).toBe(1_048_576)
    const { task_id } = await queue(bench, { payload })
    expect((await bench.call('getTask', { task_id })).payload).toEqual(payload)
    const over = { text: `${payload.text}a` }
    expect(await bench.refusal('createTask', { type: 'work', payload: over })).toMatchObject({
      code: 'payload_too_large',
      status: 413,
      details: { field: 'payload', bytes: 1_048_577, limit: 1_048_576 },
    })
    expect((await bench.call('listTasks', {})).tasks).toHaveLength(1)
  })

  verifies(
    'OPS-6',
    'a result of exactly 1 MiB is taken, and one byte more leaves the task leased',
    async () => {
      const bench = await open()
      const { holding, task_id } = await hold(bench)
      const result = text(1_048_574)
      const before = await everything(bench, task_id)
      expect(await bench.refusal('complete', { ...holding, result: `${result}a` })).toMatchObject({
        code: 'payload_too_large',
      })
      expect(await everything(bench, task_id)).toEqual(before)
      await bench.call('complete', { ...holding, result })
      expect((await bench.call('getTask', { task_id })).result?.result).toBe(result)
    },
  )
})

const TAMPERING = [
  `update receipts set body = '{}'`,
  `update receipts set receipt_type = receipt_type`,
  `delete from receipts`,
]

verifies('RCPT-1', 'SQLite itself refuses to change or delete a receipt', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'asyncgate-tamper-'))
  const path = join(folder, 'gate.db')
  const store = await createSqliteStore({ path })
  await store.migrate()
  const bench = await openBench(store)
  await queue(bench)
  const before = await bench.receipts()
  const database = new DatabaseSync(path)
  for (const statement of TAMPERING) expect(() => database.exec(statement)).toThrow('append-only')
  database.close()
  expect(await bench.receipts()).toEqual(before)
  await store.close()
  await rm(folder, { recursive: true })
})

verifies('RCPT-1', 'PostgreSQL itself refuses to change or delete a receipt, to its owner too', async () => {
  const { url, drop } = await createDatabase()
  const store = await createPostgresStore({ url, poolSize: 2, preparedStatements: true })
  await store.migrate()
  const bench = await openBench(store)
  await queue(bench)
  const before = await bench.receipts()
  const owner = new Client({ connectionString: url })
  await owner.connect()
  for (const statement of [...TAMPERING, 'truncate receipts', 'truncate receipts cascade'])
    await expect(owner.query(statement)).rejects.toThrow('append-only')
  await owner.end()
  expect(await bench.receipts()).toEqual(before)
  await store.close()
  await drop()
})
