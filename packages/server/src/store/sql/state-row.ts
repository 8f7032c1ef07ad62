// What became of a task, between rows and values. Most changes are of two kinds, a creation and a claim, and each has
// few columns that anybody could not guess; what is guessed need not be read by the database.
import type { Place, Task, TaskResult, TaskState, TaskStatus } from '../../engine/model.ts'
import { names, type RowOf } from './session.ts'

export const STATE_COLUMNS = {
  task_id: 'uuid',
  status: 'text',
  place: 'text',
  attempt: 'int',
  expiries: 'int',
  fence: 'int',
  next_eligible_at: 'bigint',
  updated_at: 'bigint',
  started_at: 'bigint',
  completed_at: 'bigint',
  dead_letter: 'boolean',
  has_dependents: 'boolean',
  terminal_receipt_id: 'uuid',
  result: 'json',
} as const

/** Of a task that was only just created. */
export const NEW_STATE_COLUMNS = {
  task_id: 'uuid',
  place: 'text',
  next_eligible_at: 'bigint',
  updated_at: 'bigint',
} as const

/** What a claim changes. */
export const MOVED_STATE_COLUMNS = {
  task_id: 'uuid',
  status: 'text',
  place: 'text',
  fence: 'int',
  updated_at: 'bigint',
} as const

export function stateColumns(table: string): string {
  const { task_id: _shared, ...state } = STATE_COLUMNS
  return names(state, table)
}

export interface StateRow {
  readonly task_id: string
  readonly status: TaskStatus
  readonly place: Place
  readonly attempt: number
  readonly expiries: number
  readonly fence: number
  readonly next_eligible_at: number
  readonly updated_at: number
  readonly started_at: number | null
  readonly completed_at: number | null
  readonly dead_letter: boolean | number
  readonly has_dependents: boolean | number
  readonly terminal_receipt_id: string | null
  readonly result: string | null
}

export function stateToRow({ definition, state }: Task): RowOf<typeof STATE_COLUMNS> {
  return {
    task_id: definition.taskId,
    status: state.status,
    place: state.place,
    attempt: state.attempt,
    expiries: state.expiries,
    fence: state.fence,
    next_eligible_at: state.nextEligibleAt,
    updated_at: state.updatedAt,
    started_at: state.startedAt,
    completed_at: state.completedAt,
    dead_letter: state.deadLetter,
    has_dependents: state.hasDependents,
    terminal_receipt_id: state.terminalReceiptId,
    result: state.result,
  }
}

export function isUntouched({ state }: Task): boolean {
  return (
    state.status === 'queued' &&
    state.fence === 0 &&
    state.attempt === 0 &&
    state.expiries === 0 &&
    state.startedAt === null &&
    !state.hasDependents
  )
}

export function newStateToRow({ definition, state }: Task): RowOf<typeof NEW_STATE_COLUMNS> {
  return {
    task_id: definition.taskId,
    place: state.place,
    next_eligible_at: state.nextEligibleAt,
    updated_at: state.updatedAt,
  }
}

/** Whether nothing but the columns of a move differs. */
export function isMove({ before, after }: { before: Task; after: Task }): boolean {
  const [old, now] = [before.state, after.state]
  return (
    old.attempt === now.attempt &&
    old.expiries === now.expiries &&
    old.nextEligibleAt === now.nextEligibleAt &&
    old.startedAt === now.startedAt &&
    old.completedAt === now.completedAt &&
    old.deadLetter === now.deadLetter &&
    old.hasDependents === now.hasDependents &&
    old.terminalReceiptId === now.terminalReceiptId &&
    old.result === now.result
  )
}

export function movedStateToRow({ definition, state }: Task): RowOf<typeof MOVED_STATE_COLUMNS> {
  return {
    task_id: definition.taskId,
    status: state.status,
    place: state.place,
    fence: state.fence,
    updated_at: state.updatedAt,
  }
}

export function stateFromRow(row: StateRow): TaskState {
  return {
    status: row.status,
    place: row.place,
    attempt: row.attempt,
    expiries: row.expiries,
    fence: row.fence,
    nextEligibleAt: row.next_eligible_at,
    updatedAt: row.updated_at,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    deadLetter: Boolean(row.dead_letter),
    hasDependents: Boolean(row.has_dependents),
    terminalReceiptId: row.terminal_receipt_id,
    result: row.result === null ? null : (JSON.parse(row.result) as TaskResult), // written from a TaskResult
  }
}
