// Where results are kept.
import { query, type Session, type Value } from '../session.ts'

export interface ResultRow {
  readonly tenant_id: string
  readonly task_id: string
  readonly result_id: string
  readonly kind: 'upload' | 'archive'
  readonly lease_id: string | null
  readonly channel: string
  readonly pointer: string
  readonly content_type: string
  readonly sha256: string | null
  readonly bytes: number | null
  readonly created_at: number
  readonly check_at: number | null
}

export type ResultKey = readonly [tenantId: string, taskId: string, resultId: string]

const COLUMNS = [
  ...['tenant_id', 'task_id', 'result_id', 'kind', 'lease_id', 'channel', 'pointer', 'content_type'],
  ...['sha256', 'bytes', 'created_at', 'check_at'],
] as const satisfies readonly (keyof ResultRow)[]
const columns = COLUMNS.join(', ')
const THIS_ONE = 'tenant_id = $1 and task_id = $2 and result_id = $3'

const ADD_RESULT = query('add_result', () => {
  const places = COLUMNS.map((_column, index) => `$${index + 1}`).join(', ')
  return `insert into stored_results (${columns}) values (${places})`
})

export function addResult(session: Session, row: ResultRow): Promise<never[]> {
  return session.all(
    ADD_RESULT,
    COLUMNS.map((column): Value => row[column]),
  )
}

const FINISH_RESULT = query(
  'finish_result',
  () => `update stored_results set sha256 = $4, bytes = $5, check_at = $6 where ${THIS_ONE}`,
)

export function finishResult(
  session: Session,
  key: ResultKey,
  { sha256, bytes, checkAt }: { sha256: string; bytes: number; checkAt: number | null },
): Promise<never[]> {
  return session.all(FINISH_RESULT, [...key, sha256, bytes, checkAt])
}

const RESULTS_AT = query(
  'results_at',
  () => `select ${columns} from stored_results where tenant_id = $1 and task_id = $2 and pointer = $3`,
)

export function resultsAt(
  session: Session,
  { tenantId, taskId, pointer }: { tenantId: string; taskId: string; pointer: string },
): Promise<ResultRow[]> {
  return session.all(RESULTS_AT, [tenantId, taskId, pointer])
}

const LIST_ARCHIVES = query(
  'list_archives',
  () => `
    select ${columns} from stored_results
    where tenant_id = $1 and task_id = $2 and kind = 'archive' and sha256 is not null
    order by tenant_id, task_id, result_id`,
)

export function listArchives(session: Session, tenantId: string, taskId: string): Promise<ResultRow[]> {
  return session.all(LIST_ARCHIVES, [tenantId, taskId])
}

/** Of any tenant: the collector's. */
const DUE_RESULTS = query(
  'due_results',
  () => `select ${columns} from stored_results where check_at <= $1 order by check_at limit $2`,
)

export function dueResults(session: Session, now: number, limit: number): Promise<ResultRow[]> {
  return session.all(DUE_RESULTS, [now, limit])
}

const CHECK_RESULT_LATER = query(
  'check_result_later',
  () => `update stored_results set check_at = $4 where ${THIS_ONE}`,
)

export function checkResultLater(session: Session, key: ResultKey, checkAt: number | null): Promise<never[]> {
  return session.all(CHECK_RESULT_LATER, [...key, checkAt])
}

const REMOVE_RESULT = query('remove_result', () => `delete from stored_results where ${THIS_ONE}`)

export function removeResult(session: Session, key: ResultKey): Promise<never[]> {
  return session.all(REMOVE_RESULT, key)
}
