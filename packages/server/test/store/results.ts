// Where results are kept: what is announced, finished, found, looked at again and removed.
import { expect, test } from 'vitest'
import { systemIds } from '../../src/ids.ts'
import type { StoredResult } from '../../src/store/results.ts'
import type { Given } from './conformance.ts'

const T = 1_700_000_000_000
const MEASURE = { sha256: 'a'.repeat(64), bytes: 6_000_000_000 }

function fresh(more: Partial<StoredResult> = {}): StoredResult {
  return {
    tenantId: 'results',
    taskId: systemIds.next(),
    resultId: systemIds.next(),
    kind: 'upload',
    leaseId: systemIds.next(),
    channel: 'blob',
    pointer: `blob:local/${systemIds.next()}`,
    contentType: 'text/plain',
    measure: null,
    createdAt: T,
    checkAt: null,
    ...more,
  }
}

export function results(given: Given): void {
  test('an upload is found under its lease once it is finished, and under no other', async () => {
    const { store, beside } = given()
    const result = fresh()
    const { tenantId, taskId, resultId, pointer } = result
    const leaseId = result.leaseId!
    await store.addResult(result)
    const wanted = { tenantId, taskId, leaseId, pointer }
    await expect(beside.findUpload(wanted)).resolves.toBeNull()
    await store.finishResult({ tenantId, taskId, resultId, measure: MEASURE, checkAt: T + 5 })
    await expect(beside.findUpload(wanted)).resolves.toEqual({ ...result, measure: MEASURE, checkAt: T + 5 })
    for (const other of [
      { leaseId: systemIds.next() },
      { pointer: 'blob:local/other' },
      { taskId: systemIds.next() },
      { tenantId: 'others' },
    ])
      await expect(store.findUpload({ ...wanted, ...other })).resolves.toBeNull()
  })

  test('archives are listed when they are finished, the oldest first', async () => {
    const { store, beside } = given()
    const first = fresh({ kind: 'archive', leaseId: null, measure: MEASURE })
    const { taskId, tenantId } = first
    const second = fresh({ kind: 'archive', leaseId: null, measure: MEASURE, taskId })
    const unfinished = fresh({ kind: 'archive', leaseId: null, taskId })
    for (const one of [unfinished, second, first, fresh({ taskId, measure: MEASURE })])
      await store.addResult(one)
    await expect(beside.listArchives(tenantId, taskId)).resolves.toEqual([first, second])
    await expect(beside.listArchives('others', taskId)).resolves.toEqual([])
  })

  test('what is due is told with whether its place is shared, looked at later, or removed', async () => {
    const { store, beside } = given()
    const [early, late] = [fresh({ checkAt: 10 }), fresh({ checkAt: 20 })]
    const twin = fresh({ taskId: early.taskId, pointer: early.pointer })
    for (const one of [late, early, twin]) await store.addResult(one)
    await expect(beside.dueResults(9, 10)).resolves.toEqual([])
    await expect(beside.dueResults(20, 10)).resolves.toEqual([
      { ...early, isShared: true },
      { ...late, isShared: false },
    ])
    await expect(beside.dueResults(20, 1)).resolves.toHaveLength(1)
    await store.checkResultLater({ ...idOf(early), checkAt: 30 })
    await store.removeResult(idOf(late))
    await expect(beside.dueResults(29, 10)).resolves.toEqual([])
    await store.removeResult(idOf(twin))
    await expect(beside.dueResults(30, 10)).resolves.toEqual([{ ...early, checkAt: 30, isShared: false }])
    await store.checkResultLater({ ...idOf(early), checkAt: null })
    await expect(beside.dueResults(T, 10)).resolves.toEqual([])
  })
}

function idOf({ tenantId, taskId, resultId }: StoredResult) {
  return { tenantId, taskId, resultId }
}
