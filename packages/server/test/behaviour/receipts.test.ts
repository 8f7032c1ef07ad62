// Receipts: what is recorded, for whom, with which hash, and that it stays.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { contract } from '@asyncgate/sdk'
import { expect } from 'vitest'
import { recomputeHash } from '../receipt-hash.ts'
import { verifies } from '../requirements.ts'
import { type Bench, onEveryStore } from './harness.ts'
import { ALICE, BOB, everything, hold, ofType, queue, take } from './steps.ts'

const SYSTEM = { kind: 'system', id: 'asyncgate' }
const TERMINAL = ['task.completed', 'task.failed', 'task.canceled']

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
    const artifacts = [{ url: 'a'.repeat(65_536) }]
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
    for (const { task_id, lease_id } of leased) {
      await bench.call('complete', { worker_id: 'w1', task_id, lease_id, store_result: true })
    }
    running = false
    await Promise.all(readers)

    async function readTaskFirst() {
      for (let at = 0; running; at = (at + 1) % leased.length) {
        await nextTurn()
        const { task_id } = leased[at]!
        const { status } = await bench.call('getTask', { task_id })
        const types = (await bench.receipts(task_id)).map((receipt) => receipt.receipt_type)
        if (status === 'succeeded') expect(types).toContain('task.result_ready')
      }
    }
    async function readReceiptFirst() {
      while (running) {
        await nextTurn()
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
