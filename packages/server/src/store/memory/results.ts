// Where results are kept, in memory.
import type { ResultId, ResultStore, StoredResult } from '../results.ts'

export function createMemoryResults(): ResultStore {
  const results = new Map<string, StoredResult>()
  const keyOf = ({ tenantId, taskId, resultId }: ResultId) => `${tenantId}/${taskId}/${resultId}`
  const of = (tenantId: string, taskId: string) =>
    [...results.values()].filter((result) => result.tenantId === tenantId && result.taskId === taskId)
  const change = (id: ResultId, to: Partial<StoredResult>) => {
    const result = results.get(keyOf(id))
    if (result !== undefined) results.set(keyOf(id), { ...result, ...to })
  }
  return {
    addResult: async (result) => void results.set(keyOf(result), result),
    finishResult: async ({ measure, checkAt, ...id }) => change(id, { measure, checkAt }),
    resultsAt: async ({ tenantId, taskId, pointer }) =>
      of(tenantId, taskId).filter((result) => result.pointer === pointer),
    listArchives: async (tenantId, taskId) =>
      of(tenantId, taskId)
        .filter(({ kind, measure }) => kind === 'archive' && measure !== null)
        .toSorted((a, b) => (a.resultId < b.resultId ? -1 : 1)),
    dueResults: async (now, limit) =>
      [...results.values()]
        .filter(({ checkAt }) => checkAt !== null && checkAt <= now)
        .toSorted((a, b) => a.checkAt! - b.checkAt!)
        .slice(0, limit),
    checkResultLater: async ({ checkAt, ...id }) => change(id, { checkAt }),
    removeResult: async (id) => void results.delete(keyOf(id)),
  }
}
