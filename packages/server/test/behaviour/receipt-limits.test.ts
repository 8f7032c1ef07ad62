// The limits of receipts, to the byte, and what becomes of what does not fit.
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { type Bench, onEveryStore } from './harness.ts'
import { everything, hold, type Holding, ofType, queue, take } from './steps.ts'

const text = (bytes: number) => 'a'.repeat(bytes)
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

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
