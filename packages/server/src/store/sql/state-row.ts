// What is kept of a task's state on every shelf.
import type { TaskState } from '../../engine/model.ts'
import type { RowOf } from './session.ts'

export const STATE_COLUMNS = {
  attempt: 'int',
  expiries: 'int',
  fence: 'int',
  next_eligible_at: 'bigint',
  updated_at: 'bigint',
  started_at: 'bigint',
  has_dependents: 'boolean',
} as const

export interface StateRow {
  readonly attempt: number
  readonly expiries: number
  readonly fence: number
  readonly next_eligible_at: number
  readonly updated_at: number
  readonly started_at: number | null
  readonly has_dependents: boolean | number
}

export function stateToRow(state: TaskState): RowOf<typeof STATE_COLUMNS> {
  return {
    attempt: state.attempt,
    expiries: state.expiries,
    fence: state.fence,
    next_eligible_at: state.nextEligibleAt,
    updated_at: state.updatedAt,
    started_at: state.startedAt,
    has_dependents: state.hasDependents,
  }
}

export function stateFromRow(row: StateRow) {
  return {
    attempt: row.attempt,
    expiries: row.expiries,
    fence: row.fence,
    nextEligibleAt: row.next_eligible_at,
    updatedAt: row.updated_at,
    startedAt: row.started_at,
    hasDependents: Boolean(row.has_dependents),
  }
}

export const NOT_ENDED = {
  completedAt: null,
  deadLetter: false,
  terminalReceiptId: null,
  result: null,
} as const
