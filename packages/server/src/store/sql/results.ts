// Where results are kept, in SQL.
import type { ResultId, ResultStore, StoredResult } from '../results.ts'
import type { Driver } from './session.ts'
import {
  addResult,
  checkResultLater,
  dueResults,
  finishResult,
  listArchives,
  removeResult,
  resultsAt,
  type ResultKey,
  type ResultRow,
} from './statements/results.ts'
import { inTransaction } from './transact.ts'

export function createSqlResults(driver: Driver): ResultStore {
  const { readerOf, acrossTenants } = driver
  return {
    addResult: (result) =>
      inTransaction(
        { driver, tenantId: result.tenantId },
        async (tx) => void (await addResult(tx, rowOf(result))),
      ),
    finishResult: ({ measure, checkAt, ...id }) =>
      inTransaction(
        { driver, tenantId: id.tenantId },
        async (tx) => void (await finishResult(tx, keyOf(id), { ...measure, checkAt })),
      ),
    resultsAt: async (place) => (await resultsAt(readerOf(place.tenantId), place)).map(toResult),
    listArchives: async (tenantId, taskId) =>
      (await listArchives(readerOf(tenantId), tenantId, taskId)).map(toResult),
    dueResults: async (now, limit) => (await dueResults(acrossTenants, now, limit)).map(toResult),
    checkResultLater: ({ checkAt, ...id }) =>
      inTransaction(
        { driver, tenantId: id.tenantId },
        async (tx) => void (await checkResultLater(tx, keyOf(id), checkAt)),
      ),
    removeResult: (id) =>
      inTransaction(
        { driver, tenantId: id.tenantId },
        async (tx) => void (await removeResult(tx, keyOf(id))),
      ),
  }
}

function keyOf({ tenantId, taskId, resultId }: ResultId): ResultKey {
  return [tenantId, taskId, resultId]
}

function toResult(row: ResultRow): StoredResult {
  const { sha256, bytes } = row
  return {
    tenantId: row.tenant_id,
    taskId: row.task_id,
    resultId: row.result_id,
    kind: row.kind,
    leaseId: row.lease_id,
    channel: row.channel,
    pointer: row.pointer,
    contentType: row.content_type,
    measure: sha256 === null || bytes === null ? null : { sha256, bytes },
    createdAt: row.created_at,
    checkAt: row.check_at,
  }
}

function rowOf(result: StoredResult): ResultRow {
  return {
    tenant_id: result.tenantId,
    task_id: result.taskId,
    result_id: result.resultId,
    kind: result.kind,
    lease_id: result.leaseId,
    channel: result.channel,
    pointer: result.pointer,
    content_type: result.contentType,
    sha256: result.measure?.sha256 ?? null,
    bytes: result.measure?.bytes ?? null,
    created_at: result.createdAt,
    check_at: result.checkAt,
  }
}
