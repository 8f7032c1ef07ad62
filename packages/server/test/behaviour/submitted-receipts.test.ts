// Receipts that principals bring themselves: which types, with which parents, and that a fact is one.
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { type Bench, onEveryStore } from './harness.ts'
import { ALICE, BOB, hold, openIds, queue } from './steps.ts'

const TO = { kind: 'human', id: 'bob' } as const
const NOWHERE = '0197c5a4-7d2e-7c12-b6f0-2a9c4d1e8f03'
const service = (id: string) => ({
  caller: {
    principal: { kind: 'service' as const, id },
    speaksForAll: false,
    role: 'service' as const,
    scopes: new Set(['receipts:write', 'receipts:read'] as const),
  },
})

const submit = (bench: Bench, receipt_type: string, more: object = {}) =>
  bench.call('submitReceipt', { ...ALICE, receipt_type, to: TO, ...more })

const refused = (bench: Bench, receipt_type: string, more: object = {}) =>
  bench.refusal('submitReceipt', { ...ALICE, receipt_type, to: TO, ...more })

onEveryStore('submitted receipts', (open) => {
  for (const type of [
    'x.note',
    'x.a',
    'x.review.done',
    'x.v2_final-1',
    'schedule.created',
    'schedule.paused',
  ]) {
    verifies('RCPT-11', `${type} is taken`, async () => {
      const bench = await open()
      const { receipt_id, hash, is_duplicate } = await submit(bench, type, { body: { a: 1 } })
      expect(is_duplicate).toBe(false)
      expect(await bench.call('getReceipt', { receipt_id })).toMatchObject({
        receipt_type: type,
        from: { kind: 'agent', id: 'alice' },
        to: TO,
        task_id: null,
        lease_id: null,
        schedule_id: null,
        parents: [],
        body: { schema_version: '1', a: 1 },
        hash,
      })
    })
  }

  const FORBIDDEN = [
    ...['task.assigned', 'task.completed', 'task.failed', 'task.canceled', 'task.result_ready', 'task.x'],
    ...['lease.expired', 'system.anomaly', 'receipt.acknowledged', 'note', 'x', 'x.', 'schedule.', 'X.note'],
    ...['x.Note', 'xx.note', ' x.note', 'x.note ', 'x.note\n', 'x.nöte', 'task.x.note', ''],
  ]
  verifies('RCPT-11', 'every other type is refused, and nothing is recorded', async () => {
    const bench = await open()
    const { receipt_id } = await queue(bench)
    for (const type of FORBIDDEN) {
      const error = await refused(bench, type, { parents: [receipt_id] })
      expect([type, error.code, error.details.field]).toEqual([type, 'invalid_input', 'receipt_type'])
    }
    expect(await bench.receipts()).toHaveLength(1)
  })

  verifies('RCPT-11', 'nobody speaks for the system', async () => {
    const bench = await open()
    const error = await bench.refusal('submitReceipt', {
      principal_kind: 'system',
      principal_id: 'asyncgate',
      receipt_type: 'x.note',
      to: TO,
    })
    expect(error).toMatchObject({ code: 'invalid_input', details: { field: 'principal_kind' } })
  })

  verifies('RCPT-11', 'the body has the version of its schema, and none of its own', async () => {
    const bench = await open()
    const plain = await submit(bench, 'x.note', { body: { a: 1 } })
    const said = await submit(bench, 'x.note', { body: { schema_version: '1', a: 1 } })
    expect([said.receipt_id, said.is_duplicate]).toEqual([plain.receipt_id, true])
    for (const schema_version of ['2', 1, null]) {
      const error = await refused(bench, 'x.note', { body: { schema_version } })
      expect(error).toMatchObject({ code: 'invalid_input', details: { field: 'body.schema_version' } })
    }
  })

  verifies(
    ['RCPT-4', 'RCPT-11'],
    'the same fact again is the first receipt, in any order of keys and parents',
    async () => {
      const bench = await open()
      const one = await queue(bench)
      const two = await queue(bench)
      const parents = [one.receipt_id, two.receipt_id]
      const first = await submit(bench, 'x.note', { parents, body: { a: 1, b: { c: 2, d: 3 } } })
      await bench.clock.advance(60_000)
      const again = await submit(bench, 'x.note', {
        parents: parents.toReversed(),
        body: { b: { d: 3, c: 2 }, a: 1 },
      })
      expect(again).toEqual({ ...first, is_duplicate: true })
      expect(await bench.receipts()).toHaveLength(3)
    },
  )

  verifies('RCPT-4', 'twenty of the same at once are one receipt', async () => {
    const bench = await open()
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => submit(bench, 'x.note', { body: { a: 1 } })),
    )
    expect(new Set(replies.map((reply) => reply.receipt_id)).size).toBe(1)
    expect(replies.filter((reply) => !reply.is_duplicate)).toHaveLength(1)
    expect(await bench.receipts()).toHaveLength(1)
  })

  const DIFFERENCES: Record<string, object> = {
    'another body': { body: { a: 2 } },
    'another recipient': { to: { kind: 'human', id: 'carol' } },
    'another sender': BOB,
    'another schedule': { schedule_id: 's-2' },
  }
  for (const [what, difference] of Object.entries(DIFFERENCES)) {
    verifies('RCPT-4', `${what} makes another fact`, async () => {
      const bench = await open()
      const first = await submit(bench, 'x.note', { body: { a: 1 } })
      const other = await submit(bench, 'x.note', { body: { a: 1 }, ...difference })
      expect(other.is_duplicate).toBe(false)
      expect(other.receipt_id).not.toBe(first.receipt_id)
    })
  }

  verifies('RCPT-4', 'the same fact in another tenant is another receipt', async () => {
    const [bench, other] = [await open(), await open()]
    const [first, second] = [await submit(bench, 'x.note'), await submit(other, 'x.note')]
    expect(second).toMatchObject({ is_duplicate: false, hash: first.hash })
    expect(second.receipt_id).not.toBe(first.receipt_id)
  })

  verifies('RCPT-5', 'an end without parents is refused', async () => {
    const bench = await open()
    for (const parents of [[], undefined]) {
      const error = await refused(bench, 'schedule.deleted', parents ? { parents } : {})
      expect(error).toMatchObject({ code: 'parents_required', status: 422 })
    }
    expect(await bench.receipts()).toEqual([])
  })

  verifies('RCPT-5', 'a parent that does not exist in the tenant is refused, for any type', async () => {
    const [bench, other] = [await open(), await open()]
    const here = await submit(bench, 'schedule.created')
    const elsewhere = await submit(other, 'schedule.created')
    for (const type of ['schedule.deleted', 'x.note']) {
      for (const missing of [NOWHERE, elsewhere.receipt_id]) {
        const error = await refused(bench, type, { parents: [here.receipt_id, missing] })
        expect(error).toMatchObject({ code: 'parent_not_found', status: 422, details: { parent: missing } })
      }
    }
    expect(await bench.receipts()).toHaveLength(1)
    expect(await openIds(bench, BOB)).toEqual([here.receipt_id])
  })

  verifies('RCPT-5', 'anybody may discharge the obligation of another', async () => {
    const bench = await open()
    const created = await submit(bench, 'schedule.created')
    const deleted = await bench.call(
      'submitReceipt',
      { receipt_type: 'schedule.deleted', to: TO, parents: [created.receipt_id] },
      service('cleaner'),
    )
    expect(await bench.call('checkTerminator', { parent_receipt_id: created.receipt_id })).toEqual({
      has_terminator: true,
      terminator_receipt_id: deleted.receipt_id,
    })
  })

  verifies('RCPT-5', 'a task may be caused by a receipt, and only by one that is there', async () => {
    const [bench, other] = [await open(), await open()]
    const note = await submit(bench, 'x.note')
    const { receipt_id } = await queue(bench, { caused_by_receipt_id: note.receipt_id })
    expect(await bench.call('getReceipt', { receipt_id })).toMatchObject({ parents: [note.receipt_id] })
    const elsewhere = await submit(other, 'x.note')
    for (const caused_by_receipt_id of [NOWHERE, elsewhere.receipt_id]) {
      const error = await bench.refusal('createTask', { type: 'work', caused_by_receipt_id })
      expect(error).toMatchObject({ code: 'parent_not_found', status: 422 })
    }
  })

  verifies('RCPT-11', 'a receipt about a task names one that is there', async () => {
    const [bench, other] = [await open(), await open()]
    const { task_id } = await queue(bench)
    const { receipt_id } = await submit(bench, 'x.note', { task_id })
    expect((await bench.receipts(task_id)).map((receipt) => receipt.receipt_id)).toContain(receipt_id)
    const elsewhere = await queue(other)
    for (const missing of [NOWHERE, elsewhere.task_id]) {
      expect(await refused(bench, 'x.note', { task_id: missing })).toMatchObject({ code: 'not_found' })
    }
  })

  verifies('RCPT-11', 'no receipt of a principal moves a task', async () => {
    const bench = await open()
    const { holding, task_id, receipt_id } = await hold(bench)
    const before = await bench.call('getTask', { task_id })
    await submit(bench, 'x.completed', { task_id, parents: [receipt_id] })
    await submit(bench, 'schedule.deleted', { task_id, parents: [receipt_id] })
    expect(await bench.call('getTask', { task_id })).toEqual(before)
    expect(await bench.call('complete', { ...holding, store_result: true })).toMatchObject({ ok: true })
  })
})
