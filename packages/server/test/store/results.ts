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
  test('what was announced at a pointer is found there, and told when it is finished', async () => {
    const { store, beside } = given()
    const result = fresh()
    const { tenantId, taskId, pointer } = result
    await store.addResult(result)
    const place = { tenantId, taskId, pointer }
    await expect(beside.resultsAt(place)).resolves.toEqual([result])
    await store.finishResult({ ...idOf(result), measure: MEASURE, checkAt: T + 5 })
    await expect(beside.resultsAt(place)).resolves.toEqual([{ ...result, measure: MEASURE, checkAt: T + 5 }])
    for (const other of [
      { pointer: 'blob:local/other' },
      { taskId: systemIds.next() },
      { tenantId: 'others' },
    ])
      await expect(store.resultsAt({ ...place, ...other })).resolves.toEqual([])
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

  test('what is due is told in its order, looked at later, or removed', async () => {
    const { store, beside } = given()
    const [early, late] = [fresh({ checkAt: 10 }), fresh({ checkAt: 20 })]
    for (const one of [late, early, fresh()]) await store.addResult(one)
    await expect(beside.dueResults(9, 10)).resolves.toEqual([])
    await expect(beside.dueResults(20, 10)).resolves.toEqual([early, late])
    await expect(beside.dueResults(20, 1)).resolves.toHaveLength(1)
    await store.checkResultLater({ ...idOf(early), checkAt: 30 })
    await store.removeResult(idOf(late))
    await expect(beside.dueResults(29, 10)).resolves.toEqual([])
    await expect(beside.dueResults(30, 10)).resolves.toEqual([{ ...early, checkAt: 30 }])
    await store.checkResultLater({ ...idOf(early), checkAt: null })
    await expect(beside.dueResults(T, 10)).resolves.toEqual([])
  })
}

function idOf({ tenantId, taskId, resultId }: StoredResult) {
  return { tenantId, taskId, resultId }
}
