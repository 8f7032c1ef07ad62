// Tasks that wait, between rows and values.
import type { Place, Task } from '../../engine/model.ts'
import { definitionFromRow, type DefinitionRow } from './definition-row.ts'
import type { RowOf } from './session.ts'

/** Of a task that was only just created: the rest of its row is what everybody can guess. */
export const NEW_QUEUED_COLUMNS = {
  task_id: 'uuid',
  place: 'text',
  lane: 'text',
  type: 'text',
  neg_priority: 'int',
  concurrency_key: 'text',
  concurrency_limit: 'int',
  next_eligible_at: 'bigint',
  updated_at: 'bigint',
} as const

export const QUEUED_COLUMNS = {
  ...NEW_QUEUED_COLUMNS,
  attempt: 'int',
  expiries: 'int',
  fence: 'int',
  started_at: 'bigint',
  has_dependents: 'boolean',
} as const

/** What can change while a task waits. */
export const QUEUED_CHANGES = {
  task_id: 'uuid',
  place: 'text',
  next_eligible_at: 'bigint',
  updated_at: 'bigint',
  attempt: 'int',
  expiries: 'int',
  fence: 'int',
  started_at: 'bigint',
  has_dependents: 'boolean',
} as const

export const QUEUED_STATE =
  's.place, s.attempt, s.expiries, s.fence, s.next_eligible_at, s.updated_at, s.started_at, s.has_dependents'

export interface QueuedRow extends DefinitionRow {
  readonly place: Place
  readonly attempt: number
  readonly expiries: number
  readonly fence: number
  readonly next_eligible_at: number
  readonly updated_at: number
  readonly started_at: number | null
  readonly has_dependents: boolean | number
}

export function isUntouched({ state }: Task): boolean {
  return (
    state.fence === 0 &&
    state.attempt === 0 &&
    state.expiries === 0 &&
    state.startedAt === null &&
    !state.hasDependents
  )
}

export function newQueuedToRow({ definition, state }: Task): RowOf<typeof NEW_QUEUED_COLUMNS> {
  return {
    task_id: definition.taskId,
    place: state.place,
    lane: definition.lane,
    type: definition.type,
    neg_priority: -definition.priority,
    concurrency_key: definition.concurrencyKey,
    concurrency_limit: definition.concurrencyLimit,
    next_eligible_at: state.nextEligibleAt,
    updated_at: state.updatedAt,
  }
}

export function queuedToRow(task: Task): RowOf<typeof QUEUED_COLUMNS> {
  return { ...newQueuedToRow(task), ...queuedToChange(task) }
}

export function queuedToChange({ definition, state }: Task): RowOf<typeof QUEUED_CHANGES> {
  return {
    task_id: definition.taskId,
    place: state.place,
    next_eligible_at: state.nextEligibleAt,
    updated_at: state.updatedAt,
    attempt: state.attempt,
    expiries: state.expiries,
    fence: state.fence,
    started_at: state.startedAt,
    has_dependents: state.hasDependents,
  }
}

export function queuedFromRow(row: QueuedRow): Task {
  return {
    definition: definitionFromRow(row),
    state: {
      status: 'queued',
      place: row.place,
      attempt: row.attempt,
      expiries: row.expiries,
      fence: row.fence,
      nextEligibleAt: row.next_eligible_at,
      updatedAt: row.updated_at,
      startedAt: row.started_at,
      completedAt: null,
      deadLetter: false,
      hasDependents: Boolean(row.has_dependents),
      terminalReceiptId: null,
      result: null,
    },
  }
}
