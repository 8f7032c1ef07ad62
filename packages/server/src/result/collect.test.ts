// Several results at one pointer: its content goes with the last of them.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createBlobChannel } from '../channel/blob.ts'
import { collect, measure } from '../channel/content.ts'
import { systemIds } from '../ids.ts'
import { createMemoryStore } from '../store/memory/index.ts'
import type { StoredResult } from '../store/results.ts'
import { createCollector } from './collect.ts'

const HOUR_MS = 3_600_000
let folder: string | undefined
afterEach(async () => {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

test('what an archive under way has put at the pointer of a leftover stays, until that is found to be dead too', async () => {
  folder = await mkdtemp(join(tmpdir(), 'asyncgate-collect-'))
  const blob = createBlobChannel({ path: folder })
  const store = createMemoryStore()
  const shelf = { tenantId: 'default', taskId: systemIds.next() }
  const facts = { channel: 'blob', contentType: 'text/plain', measure: null, createdAt: 0 } as const
  const leftover = {
    ...shelf,
    ...facts,
    resultId: systemIds.next(),
    kind: 'upload',
    leaseId: systemIds.next(),
  } as const
  const archive = { ...shelf, ...facts, resultId: systemIds.next(), kind: 'archive', leaseId: null } as const
  const put = async (row: Omit<StoredResult, 'pointer' | 'checkAt'>, checkAt: number) => {
    const content = measure(
      (async function* () {
        yield Buffer.from('the same content')
      })(),
    )
    return blob.put({ ...row, bytes: null, targetUrl: null, content }, (pointer) =>
      store.addResult({ ...row, pointer, checkAt }),
    )
  }
  const pointer = await put(leftover, HOUR_MS)
  await put(archive, 24 * HOUR_MS)
  let now = HOUR_MS
  const channels = {
    all: [blob],
    find: () => blob,
    large: 'blob',
    inlineBytesMax: 0,
    bytesMax: 1_000,
  } as const
  const collector = createCollector(
    { store, channels, clock: { now: () => now }, ids: systemIds },
    (error) => {
      throw error
    },
  )
  const kept = async () => collect(await blob.get({ ...shelf, pointer }, new AbortController().signal), 1_000)

  expect(await collector.runOnce()).toBe(1)
  expect((await kept()).toString()).toBe('the same content')
  now = 24 * HOUR_MS
  expect(await collector.runOnce()).toBe(1)
  await expect(kept()).rejects.toMatchObject({ code: 'missing' })
})
