// Tasks that wait, between rows and values.
import type { Place, Task, TaskDefinition } from '../../engine/model.ts'
import { names, type RowOf } from './session.ts'
import type { Addressed, Shelved } from './shelved.ts'
import { NOT_ENDED, STATE_COLUMNS, stateFromRow, type StateRow, stateToRow } from './state-row.ts'

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

export const QUEUED_COLUMNS = { ...NEW_QUEUED_COLUMNS, ...STATE_COLUMNS } as const

/** What can change while a task waits. */
export const QUEUED_CHANGES = { task_id: 'uuid', place: 'text', ...STATE_COLUMNS } as const

export const QUEUED_STATE = `s.place, ${names(STATE_COLUMNS, 's')}`

export interface QueuedRow extends StateRow, Addressed {
  readonly task_id: string
  readonly place: Place
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
  return { task_id: definition.taskId, place: state.place, ...stateToRow(state) }
}

export function queuedFromRow(row: QueuedRow, definition: TaskDefinition): Shelved {
  return {
    definition,
    state: { status: 'queued', place: row.place, ...stateFromRow(row), ...NOT_ENDED },
    address: row.address,
  }
}
