// Results in channels, over HTTP: put under a lease, named by a completion, fetched, verified, archived, and collected when
// nobody can come to need them.
import { appendFile, mkdir, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createHash, randomBytes } from 'node:crypto'
import { completed, createWorker } from '@asyncgate/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifies } from './requirements.ts'
import { bytesIn, type Held, KEY, openResultRig, type ResultRig } from './result-rig.ts'
import { STORE_KINDS } from './stores.ts'

const HOUR_MS = 3_600_000
const MIB = 1_048_576
const LARGE = 'x'.repeat(100_000)
const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')

async function* megabytes(count: number): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count; index += 1) yield Buffer.alloc(MIB, index % 251)
}

describe.each(STORE_KINDS)('on %s', (kind) => {
  let rig: ResultRig
  beforeAll(async () => {
    rig = await openResultRig(kind)
  })
  afterAll(() => rig.close())

  const put = (
    held: Held,
    content: Parameters<ResultRig['client']['uploadTaskResult']>[1],
    more: object = {},
  ) => rig.client.uploadTaskResult({ ...held, ...more }, content)

  async function completeWith(held: Held, content: string, more: object = {}) {
    const stored = await put(held, content, more)
    await rig.client.complete({ ...held, artifacts: [stored] })
    return stored
  }

  verifies(
    ['CHAN-1', 'CHAN-2'],
    'a large result is put, named, and fetched by who may read the task',
    async () => {
      const held = await rig.hold()
      const stored = await completeWith(held, LARGE, { content_type: 'text/plain' })
      expect(stored).toEqual({
        pointer: `blob:local/${sha256(LARGE)}`,
        channel: 'blob',
        content_type: 'text/plain',
        bytes: LARGE.length,
        sha256: sha256(LARGE),
      })
      const { task_id } = held
      const task = await rig.client.getTask({ task_id })
      const obligation = { parent_receipt_id: task.assigned_receipt_id }
      expect(await rig.client.checkTerminator(obligation)).toMatchObject({ has_terminator: true })
      const first = await rig.client.fetchTaskResult({ task_id })
      expect(first).toMatchObject({ verified: true, encoding: 'utf8', offset: 0, next_offset: 32_768 })
      let text = first.content!
      for (let next = first.next_offset; next !== null; ) {
        const part = await rig.client.fetchTaskResult({ task_id, offset: next, max_bytes: 50_000 })
        text += part.content!
        next = part.next_offset
      }
      expect(text).toBe(LARGE)
      const download = await rig.client.downloadTaskResult({ task_id })
      expect(download).toMatchObject({
        contentType: 'text/plain',
        bytes: LARGE.length,
        sha256: sha256(LARGE),
      })
      expect((await bytesIn(download.content)).toString()).toBe(LARGE)
    },
  )

  verifies('CHAN-1', 'the worker chooses the channel, else the task, else the size', async () => {
    const asking = await rig.hold('w1', { result_delivery: { channel: 'file' } })
    expect((await put(asking, 'small')).channel).toBe('file')
    expect((await put(asking, 'small', { channel: 'blob' })).channel).toBe('blob')
    const plain = await rig.hold('w1', { result_delivery: { channel: 'carrier pigeon' } })
    expect((await put(plain, 'x'.repeat(32_768))).channel).toBe('inline')
    expect((await put(plain, 'x'.repeat(32_769))).channel).toBe('blob')
  })

  verifies('CHAN-1', 'the type chooses where neither the worker nor the task does', async () => {
    const type = `typed-${kind}`
    await rig.client.putTaskType({ task_type: type, default_result_channel: 'file' })
    const typed = async (more: object = {}) => {
      const { task_id } = await rig.client.createTask({ type, ...more })
      const { tasks } = await rig.client.leaseNext({ worker_id: 'w1', accept_types: [type] })
      return { held: { worker_id: 'w1', task_id, lease_id: tasks[0]!.lease_id }, leased: tasks[0]! }
    }
    const { held, leased } = await typed()
    expect(leased.result_channel).toBe('file')
    expect((await put(held, 'small')).channel).toBe('file')
    expect((await put(held, LARGE)).channel).toBe('file')
    expect((await put(held, 'small', { channel: 'inline' })).channel).toBe('inline')
    const asking = await typed({ result_delivery: { channel: 'blob', note: 'mine' } })
    expect((await put(asking.held, 'small')).channel).toBe('blob')
    expect((await put(asking.held, 'small', { channel: 'file' })).channel).toBe('file')
    // It is part of what was agreed on: what is asked for besides stays, and a later change of the type is for later tasks.
    const open = await typed({ result_delivery: { note: 'mine' } })
    await rig.client.putTaskType({ task_type: type, default_result_channel: 'blob' })
    const assigned = { task_id: open.held.task_id, receipt_type: 'task.assigned' }
    const [receipt] = (await rig.client.listReceipts(assigned)).receipts
    expect(receipt?.body).toMatchObject({ result_delivery: { note: 'mine', channel: 'file' } })
    expect((await put(open.held, 'small')).channel).toBe('file')
  })

  verifies(
    'CHAN-2',
    'an archived copy is recorded once, and stands in when the first place has lost it',
    async () => {
      const held = await rig.hold()
      const { task_id } = held
      await completeWith(held, LARGE, { content_type: 'text/csv' })
      const receipts = await rig.client.listReceipts({ task_id })
      const copy = await rig.client.archiveTaskResult({ task_id, channel: 'file' })
      expect(copy).toMatchObject({
        channel: 'file',
        sha256: sha256(LARGE),
        content_type: 'text/csv',
        is_duplicate: false,
      })
      const again = await rig.client.archiveTaskResult({ task_id, channel: 'file' })
      expect(again).toEqual({ ...copy, is_duplicate: true })
      for (const file of await rig.files('blob')) if (file.includes(task_id)) await rm(file)
      const fetched = await rig.client.fetchTaskResult({ task_id })
      const { is_duplicate: _first, ...recorded } = copy
      expect(fetched).toMatchObject({ verified: true, archives: [recorded] })
      expect((await bytesIn((await rig.client.downloadTaskResult({ task_id })).content)).toString()).toBe(
        LARGE,
      )
      expect(await rig.client.listReceipts({ task_id })).toEqual(receipts)
    },
  )

  verifies(
    'CHAN-2',
    'a copy is fetched by its pointer when the first place holds something else',
    async () => {
      const held = await rig.hold()
      const { task_id } = held
      await completeWith(held, LARGE)
      const { pointer } = await rig.client.archiveTaskResult({ task_id, channel: 'file' })
      for (const file of await rig.files('blob')) if (file.includes(task_id)) await appendFile(file, '!')
      const corrupt = { code: 'checksum_mismatch' }
      await expect(rig.client.fetchTaskResult({ task_id })).rejects.toMatchObject(corrupt)
      const { content } = await rig.client.downloadTaskResult({ task_id, pointer })
      expect((await bytesIn(content)).toString()).toBe(LARGE)
      const other = await rig.hold()
      await rig.client.complete({ ...other, artifacts: [{ pointer }] })
      const stolen = rig.client.fetchTaskResult({ task_id: other.task_id, pointer })
      await expect(stolen).rejects.toMatchObject({ code: 'not_found' })
    },
  )

  test('what a dead worker put is not the result, and is collected; what was named is kept', async () => {
    const type = `dying-${kind}`
    await rig.client.createTask({ type })
    const dead = await rig.claim(type, 'dead')
    const half = await put(dead, `${LARGE}dead`)
    const same = await put(dead, LARGE)
    await rig.clock.advance(400_000)
    await rig.gate.sweep()
    await rig.clock.advance(10_000)
    const alive = await rig.claim(type, 'alive')
    await expect(put(dead, LARGE)).rejects.toMatchObject({ code: 'lease_invalid_or_expired' })
    const stored = await put(alive, LARGE)
    expect(stored.pointer).toBe(same.pointer)
    await rig.client.complete({ ...alive, artifacts: [half, stored] })
    const { task_id } = alive
    const lookup = { task_id, pointer: half.pointer }
    await expect(rig.client.fetchTaskResult(lookup)).rejects.toMatchObject({ code: 'not_found' })
    await expect(rig.client.fetchTaskResult({ task_id, pointer: stored.pointer })).resolves.toMatchObject({
      verified: true,
    })
    const kept = async () => (await rig.files('blob')).filter((file) => file.includes(task_id))
    expect(await kept()).toHaveLength(2)
    await rig.clock.advance(HOUR_MS)
    await rig.gate.collect()
    expect(await kept()).toEqual([expect.stringContaining(sha256(LARGE))])
    await expect(rig.client.fetchTaskResult({ task_id, pointer: stored.pointer })).resolves.toMatchObject({
      verified: true,
    })
  })

  test('a task that has not ended keeps what was put; one that is canceled keeps nothing', async () => {
    const held = await rig.hold('w1', {})
    for (const channel of ['blob', 'blob', 'file']) await put(held, LARGE, { channel })
    const kept = async () =>
      [...(await rig.files('blob')), ...(await rig.files('file'))].filter((file) =>
        file.includes(held.task_id),
      )
    await rig.clock.advance(HOUR_MS)
    await rig.gate.collect()
    expect(await kept()).toHaveLength(2)
    await rig.client.cancelTask({ task_id: held.task_id })
    await rig.clock.advance(HOUR_MS)
    expect(await rig.gate.collect()).toBeGreaterThanOrEqual(3)
    expect(await kept()).toEqual([])
  })

  test('what was put and not named waits for attach_artifacts while the obligation is open', async () => {
    const held = await rig.hold()
    const [named, other] = [await put(held, `${LARGE}1`), await put(held, `${LARGE}2`)]
    await rig.client.complete({ ...held, result: null })
    await rig.clock.advance(HOUR_MS)
    await rig.gate.collect()
    const { task_id } = held
    await rig.client.attachArtifacts({ task_id, artifacts: [named] })
    await expect(rig.client.fetchTaskResult({ task_id })).resolves.toMatchObject({ pointer: named.pointer })
    await rig.clock.advance(HOUR_MS)
    await rig.gate.collect()
    const left = (await rig.files('blob')).filter((file) => file.includes(task_id))
    expect(left).toEqual([expect.stringContaining(named.sha256)])
    expect(other.sha256).not.toBe(named.sha256)
  })

  test("another task's pointer is no way to its content", async () => {
    const owner = await rig.hold('w1')
    const stored = await completeWith(owner, `secret ${LARGE}`)
    const thief = await rig.hold('w2')
    await rig.client.complete({ ...thief, artifacts: [stored] })
    const fetched = rig.client.fetchTaskResult({ task_id: thief.task_id })
    await expect(fetched).rejects.toMatchObject({ code: 'not_found' })
  })

  test('a result that is with its task is fetched from there, and verified by its receipt', async () => {
    const held = await rig.hold()
    await rig.client.complete({ ...held, result: { b: 1, a: 'é' }, store_result: true })
    const { task_id } = held
    expect(await rig.client.fetchTaskResult({ task_id })).toMatchObject({
      channel: 'inline',
      pointer: `asyncgate:result/${task_id}`,
      result: { a: 'é', b: 1 },
      verified: true,
      sha256: sha256('{"a":"é","b":1}'),
    })
    const { content } = await rig.client.downloadTaskResult({ task_id })
    expect((await bytesIn(content)).toString()).toBe('{"a":"é","b":1}')
    await expect(rig.client.archiveTaskResult({ task_id, channel: 'file' })).resolves.toMatchObject({
      content_type: 'application/json',
    })
  })

  verifies(
    'CHAN-1',
    'one that is with its task and too large for the receipt has its checksum there, if its worker took none',
    async () => {
      const held = await rig.hold()
      await rig.client.complete({ ...held, result: { text: LARGE }, store_result: true })
      const sum = sha256(JSON.stringify({ text: LARGE }))
      const [receipt] = (
        await rig.client.listReceipts({ task_id: held.task_id, receipt_type: 'task.completed' })
      ).receipts
      expect(receipt?.body).toMatchObject({ result_sha256: sum })
      const fetched = await rig.client.fetchTaskResult({ task_id: held.task_id, max_bytes: MIB })
      expect(fetched).toMatchObject({ result: { text: LARGE }, verified: true, sha256: sum })
    },
  )
})

describe('over HTTP', () => {
  let rig: ResultRig
  beforeAll(async () => {
    rig = await openResultRig('memory', { max_bytes: 80 * MIB })
  })
  afterAll(() => rig.close())
  const contentUrl = (task_id: string, query = '') =>
    `${rig.gate.url}/v1/tasks/${task_id}/result/content${query}`
  const auth = { authorization: `Bearer ${KEY}` }

  test('a stream of 70 MiB goes up and comes back, verified at both ends, with its progress', async () => {
    const held = await rig.hold()
    const seen: number[] = []
    const onProgress = ({ bytes }: { bytes: number }) => void seen.push(bytes)
    const stored = await rig.client.uploadTaskResult(held, megabytes(70), { onProgress })
    expect(seen.at(-1)).toBe(70 * MIB)
    expect(stored).toMatchObject({ bytes: 70 * MIB, channel: 'blob' })
    await rig.client.complete({ ...held, artifacts: [stored] })
    const { content, bytes } = await rig.client.downloadTaskResult({ task_id: held.task_id })
    const hash = createHash('sha256')
    for await (const chunk of content) hash.update(chunk)
    expect([bytes, hash.digest('hex')]).toEqual([70 * MIB, stored.sha256])
    const fetched = await rig.client.fetchTaskResult({ task_id: held.task_id })
    expect(fetched).toMatchObject({ content: null, verified: false, bytes: 70 * MIB })
    const download = await fetch(`${rig.gate.url}${fetched.download!}`, { headers: auth })
    expect(Number(download.headers.get('content-length'))).toBe(70 * MIB)
    await download.body?.cancel()
  })

  verifies('CHAN-1', 'a result that was tampered with is never handed over as whole', async () => {
    const held = await rig.hold()
    const { task_id } = held
    const stored = await rig.client.uploadTaskResult(held, megabytes(8))
    const small = await rig.client.uploadTaskResult({ ...held, channel: 'file' }, 'small')
    await rig.client.complete({ ...held, artifacts: [stored, small] })
    for (const file of await rig.files('blob')) if (file.includes(task_id)) await truncate(file, 8 * MIB - 1)
    for (const file of await rig.files('file')) if (file.includes(task_id)) await appendFile(file, '!')
    const corrupt = { code: 'checksum_mismatch', status: 502, retryable: false }
    await expect(rig.client.fetchTaskResult({ task_id })).rejects.toMatchObject(corrupt)
    await expect(rig.client.archiveTaskResult({ task_id, channel: 'file' })).rejects.toMatchObject(corrupt)
    const download = rig.client.downloadTaskResult({ task_id, pointer: small.pointer })
    await expect(download).rejects.toMatchObject(corrupt)
    const { content } = await rig.client.downloadTaskResult({ task_id })
    await expect(bytesIn(content)).rejects.toThrow()
  })

  test('content that is too large is refused wherever it turns out, and nothing of it stays', async () => {
    const held = await rig.hold()
    const before = await rig.files('blob')
    await expect(rig.client.uploadTaskResult(held, megabytes(81))).rejects.toMatchObject({
      code: 'payload_too_large',
    })
    expect(await rig.files('blob')).toEqual(before)
  })

  test('a lease that ends while its worker sends makes the upload void', async () => {
    const held = await rig.hold()
    const underWay = async () => readdir(join(rig.folder, 'blob/.incoming')).catch(() => [])
    async function* slow() {
      yield Buffer.alloc(200_000)
      while ((await underWay()).length === 0) await nextTurn()
      await rig.client.cancelTask({ task_id: held.task_id })
      yield Buffer.alloc(50_000)
    }
    await expect(rig.client.uploadTaskResult(held, slow())).rejects.toMatchObject({
      code: 'lease_invalid_or_expired',
      details: { task_status: 'canceled' },
    })
  })

  test('a sender that breaks off leaves nothing and is told nothing wrong of us', async () => {
    const held = await rig.hold()
    async function* broken() {
      yield Buffer.alloc(50_000)
      throw new Error('the disk is gone')
    }
    await expect(rig.client.uploadTaskResult(held, broken())).rejects.toThrow()
    await expect(rig.client.uploadTaskResult(held, LARGE)).resolves.toMatchObject({ channel: 'blob' })
  })

  test('a place that is not there is no word about the lease: its worker goes on, or tries again', async () => {
    const held = await rig.hold()
    await mkdir(join(rig.folder, 'file/default'), { recursive: true })
    const place = join(rig.folder, 'file/default', held.task_id)
    await writeFile(place, 'a file in the place of a folder')
    const put = rig.client.uploadTaskResult({ ...held, channel: 'file' }, 'x')
    await expect(put).rejects.toMatchObject({ code: 'channel_unavailable', retryable: true })
    await rm(place)
    await expect(rig.client.uploadTaskResult({ ...held, channel: 'file' }, 'x')).resolves.toBeDefined()
  })

  test('nobody sends or receives without leave', async () => {
    const held = await rig.hold()
    const query = `?worker_id=w1&lease_id=${held.lease_id}`
    const send = (url: string, headers = {}) => fetch(url, { method: 'PUT', body: 'x', headers })
    expect((await send(contentUrl(held.task_id, query))).status).toBe(401)
    expect((await fetch(contentUrl(held.task_id))).status).toBe(401)
    expect((await send(contentUrl(held.task_id, `${query}&bogus=1`), auth)).status).toBe(400)
    expect(
      (await send(contentUrl(held.task_id, `${query}&content=x`), { ...auth, 'content-encoding': 'gzip' }))
        .status,
    ).toBe(415)
    expect((await send(contentUrl(held.task_id, query), auth)).status).toBe(200)
    expect((await fetch(contentUrl(held.task_id), { headers: auth })).status).toBe(409)
  })

  test('what a worker calls a page is not run as one of this server', async () => {
    const held = await rig.hold()
    const page = await rig.client.uploadTaskResult(
      { ...held, content_type: 'text/html' },
      '<script>alert(1)</script>',
    )
    await rig.client.complete({ ...held, artifacts: [page] })
    const { headers } = await fetch(contentUrl(held.task_id), { headers: auth })
    expect(headers.get('content-disposition')).toContain('attachment')
    expect(headers.get('content-security-policy')).toMatch(
      /default-src 'none'.*frame-ancestors 'none'; sandbox$/,
    )
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('a media type that no header can carry is refused with the upload', async () => {
    const held = await rig.hold()
    for (const content_type of [
      'text/html\r\n; a=b',
      'text/html;\nx=y',
      'text/html; a="\u0001"',
      'text/html; a="☃"',
      'text/html; a="\t"',
    ])
      await expect(rig.client.putTaskResult({ ...held, content: 'x', content_type })).rejects.toMatchObject({
        ...{ code: 'invalid_input', details: { field: 'content_type' } },
      })
    const content_type = 'text/csv; charset=utf-8; header="a b"'
    const put = await rig.client.putTaskResult({ ...held, content: 'x', content_type, channel: 'blob' })
    await rig.client.complete({ ...held, artifacts: [put] })
    const reply = await fetch(contentUrl(held.task_id), { headers: auth })
    expect([reply.headers.get('content-type'), await reply.text()]).toEqual([content_type, 'x'])
  })

  test('what a worker says of something elsewhere is believed as far as it makes sense', async () => {
    const held = await rig.hold()
    const nonsense = { content_type: 'a/b\r\nx: y', bytes: -1.5, sha256: 'no' }
    await rig.client.complete({ ...held, artifacts: [{ pointer: 'depotgate:x', ...nonsense }] })
    const fetched = await rig.client.fetchTaskResult({ task_id: held.task_id })
    expect(fetched).toMatchObject({ content_type: null, bytes: null, sha256: null })
  })

  test('who stops a download halfway does no harm', async () => {
    const held = await rig.hold()
    const stored = await rig.client.uploadTaskResult(held, megabytes(20))
    await rig.client.complete({ ...held, artifacts: [stored] })
    const { content } = await rig.client.downloadTaskResult({ task_id: held.task_id })
    await content.cancel()
    expect((await rig.client.fetchTaskResult({ task_id: held.task_id })).verified).toBe(true)
  })

  verifies(
    'CHAN-3',
    'a pointer to a private address is not followed, and one of another store is passed through',
    async () => {
      const held = await rig.hold()
      const pointers = [`http:${rig.gate.url}/health`, 'depotgate:vault/17']
      await rig.client.complete({ ...held, artifacts: pointers.map((pointer) => ({ pointer })) })
      const { task_id } = held
      await expect(rig.client.fetchTaskResult({ task_id })).rejects.toMatchObject({ code: 'forbidden' })
      const passed = await rig.client.fetchTaskResult({ task_id, pointer: 'depotgate:vault/17' })
      expect(passed).toMatchObject({ channel: 'depotgate', content: null, download: null })
      const download = rig.client.downloadTaskResult({ task_id, pointer: 'depotgate:vault/17' })
      await expect(download).rejects.toMatchObject({ code: 'not_found' })
      const private_url = { channel: 'http' as const, target_url: `${rig.gate.url}/x` }
      const other = await rig.hold()
      await expect(rig.client.uploadTaskResult({ ...other, ...private_url }, 'x')).rejects.toMatchObject({
        code: 'forbidden',
      })
    },
  )
})

test('a server without a place for large results says how to give it one', async () => {
  const rig = await openResultRig('memory', { blob_path: null })
  expect((await rig.client.getConfig()).results).toMatchObject({
    default_channel: null,
    channels: ['inline', 'file', 'http'],
  })
  const held = await rig.hold()
  await expect(rig.client.uploadTaskResult(held, LARGE)).rejects.toMatchObject({
    code: 'payload_too_large',
    message: expect.stringContaining('channels.blob_path'),
  })
  await rig.close()
})

describe("a worker's results", () => {
  let rig: ResultRig
  beforeAll(async () => {
    rig = await openResultRig()
  })
  afterAll(() => rig.close())

  async function resultOf(
    handler: Parameters<ReturnType<typeof createWorker>['task']>[1],
    more: object = {},
  ) {
    const type = `sdk-${Math.trunc(performance.now() * 1_000)}`
    const events: { kind: string }[] = []
    const worker = createWorker({
      client: rig.client,
      workerId: 'sdk',
      log: false,
      stopOnSignals: false,
      renewFrom: 'timer',
      onEvent: (event) => void events.push(event),
    }).task(type, handler)
    const running = worker.run()
    const { task_id } = await rig.client.createTask({ type, max_attempts: 1, ...more })
    const task = await rig.client.getTask({ task_id, wait_seconds: 60 })
    await worker.stop()
    await running
    return { task, events }
  }

  verifies(
    ['SDK-2', 'CHAN-1'],
    'small ones go with the task, large ones to a channel, without a word of the handler',
    async () => {
      const small = await resultOf(() => ({ text: 'x'.repeat(1_000) }))
      expect(small.task.result).toMatchObject({ result: { text: 'x'.repeat(1_000) } })
      const large = await resultOf(() => ({ text: LARGE }))
      const text = JSON.stringify({ text: LARGE })
      expect(large.task).toMatchObject({
        status: 'succeeded',
        result: { result: null, artifacts: [{ channel: 'blob', sha256: sha256(text), bytes: text.length }] },
      })
      expect(large.events).toContainEqual(
        expect.objectContaining({ kind: 'uploading', bytes: text.length, totalBytes: text.length }),
      )
      const { task_id } = large.task
      const fetched = await rig.client.fetchTaskResult({ task_id, max_bytes: MIB })
      expect(fetched).toMatchObject({ result: { text: LARGE }, verified: true })
      const [receipt] = (await rig.client.listReceipts({ task_id, receipt_type: 'task.completed' })).receipts
      expect(receipt?.body).toMatchObject({ completion_metadata: { result_sha256: sha256(text) } })
      expect(receipt?.parents).toEqual([large.task.assigned_receipt_id])
    },
  )

  verifies('SDK-2', 'the task, or the handler, may choose the channel', async () => {
    const asked = await resultOf(() => 'small', { result_delivery: { channel: 'file' } })
    expect(asked.task.result?.artifacts).toMatchObject([
      { channel: 'file', content_type: 'application/json' },
    ])
    const chosen = await resultOf(() => completed({ result: 'small', channel: 'blob' }))
    expect(chosen.task.result?.artifacts).toMatchObject([{ channel: 'blob' }])
  })

  verifies('SDK-2', 'content of its own is streamed to its place, beside a result or alone', async () => {
    const { task } = await resultOf(() =>
      completed({
        content: megabytes(3),
        contentType: 'video/mp4',
        result: { seconds: 3 },
        summary: 'a film',
      }),
    )
    expect(task.result).toMatchObject({
      result: { seconds: 3 },
      artifacts: [{ channel: 'blob', content_type: 'video/mp4', bytes: 3 * MIB }, { type: 'asyncgate' }],
    })
    const alone = await resultOf(() => completed({ content: 'a,b\n1,2\n', contentType: 'text/csv' }))
    expect(alone.task.result).toMatchObject({
      result: null,
      artifacts: [{ channel: 'inline', content_type: 'text/csv' }],
    })
    const fetched = await rig.client.fetchTaskResult({ task_id: alone.task.task_id })
    expect(fetched).toMatchObject({ content: 'a,b\n1,2\n', encoding: 'utf8', next_offset: null })
  })

  test('what a handler uploads itself is named by its artifacts', async () => {
    const { task } = await resultOf(async (_payload, context) =>
      completed({ result: 1, artifacts: [await context.upload(LARGE, { contentType: 'text/plain' })] }),
    )
    expect(task.result?.artifacts).toMatchObject([
      { channel: 'blob', content_type: 'text/plain' },
      { type: 'asyncgate' },
    ])
  })

  test('many small ones are named together: what would not fit into one receipt is kept elsewhere', async () => {
    const parts = [20_000, 20_000, 10_000, 40_000].map((bytes) => randomBytes(bytes))
    const { task } = await resultOf(async (_payload, context) => {
      const uploads = parts.map((part) => context.upload(part, { contentType: 'image/png' }))
      return completed({ content: megabytes(0), artifacts: await Promise.all(uploads) })
    })
    expect(task.status).toBe('succeeded')
    const channels = task.result?.artifacts.map((artifact) => (artifact as { channel: string }).channel)
    expect(channels).toEqual(['blob', 'inline', 'blob', 'inline', 'blob'])
  })

  test('a result that no channel takes fails the task, and says why', async () => {
    const { task } = await resultOf(() => completed({ content: 'x', channel: 's3' }))
    expect(task).toMatchObject({
      status: 'failed',
      result: { error: { code: 'invalid_input', message: expect.stringContaining('s3 is not configured') } },
    })
  })
})
