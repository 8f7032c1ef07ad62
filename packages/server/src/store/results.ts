// The part of the store's port that knows where results are kept: what was announced, by whom, and what it measured.

export interface StoredResult {
  readonly tenantId: string
  readonly taskId: string
  readonly resultId: string
  /** Put by a worker under its lease, or copied later to be kept. */
  readonly kind: 'upload' | 'archive'
  /** Of the worker that put it. */
  readonly leaseId: string | null
  readonly channel: string
  readonly pointer: string
  readonly contentType: string
  /** Null until all of it is there. */
  readonly measure: { readonly sha256: string; readonly bytes: number } | null
  readonly createdAt: number
  /** When somebody must see whether it is still needed; null: it is kept. */
  readonly checkAt: number | null
}

export type ResultId = Pick<StoredResult, 'tenantId' | 'taskId' | 'resultId'>

export interface ResultStore {
  addResult(result: StoredResult): Promise<void>
  /** All of it is there; whether it is needed is still to be seen at `checkAt`. */
  finishResult(
    change: ResultId & {
      readonly measure: NonNullable<StoredResult['measure']>
      readonly checkAt: number | null
    },
  ): Promise<void>
  /** Every one of the task that was announced at that pointer. */
  resultsAt(place: Pick<StoredResult, 'tenantId' | 'taskId' | 'pointer'>): Promise<readonly StoredResult[]>
  /** Those that are there whole, oldest first. */
  listArchives(tenantId: string, taskId: string): Promise<readonly StoredResult[]>
  /** To be looked at by now, in any tenant. */
  dueResults(now: number, limit: number): Promise<readonly StoredResult[]>
  checkResultLater(change: ResultId & { readonly checkAt: number | null }): Promise<void>
  removeResult(id: ResultId): Promise<void>
}
