// A task on whichever shelf it lies: for who only reads. Nobody but its shelf has a row of it, so that the first that is
// there is the one.
import type { Place, Task, TaskStatus, TerminalStatus } from '../../engine/model.ts'
import { definitionColumns, definitionFromRow, type DefinitionRow } from './definition-row.ts'
import { resultFromRow } from './outcome-row.ts'
import type { Words } from './session.ts'
import { STATE_COLUMNS, stateFromRow, type StateRow } from './state-row.ts'

type Shelf = 'q' | 'l' | 'e'

const TABLES: Record<Shelf, string> = { q: 'queued', l: 'leased', e: 'ended' }

/** The shelves as `q`, `l` and `e`, beside `of`, which has the task's id; `but` is there already. */
export function shelves(words: Words, of: string, but?: Shelf): string {
  return (Object.keys(TABLES) as Shelf[])
    .filter((shelf) => shelf !== but)
    .map((shelf) =>
      words.findOptional(
        TABLES[shelf],
        shelf,
        `${shelf}.tenant_id = ${of}.tenant_id and ${shelf}.task_id = ${of}.task_id`,
      ),
    )
    .join('\n    ')
}

/** A task as it is selected: `t` is tasks, beside the shelves. */
export function taskColumns(words: Words): string {
  const state = Object.keys(STATE_COLUMNS).map(
    (name) => `coalesce(q.${name}, l.${name}, e.${name}) as ${name}`,
  )
  return `${definitionColumns(words)},
    case when q.task_id is not null then 'queued' else coalesce(l.status, e.status) end as status,
    coalesce(q.place, 'none') as place, ${state.join(', ')},
    e.completed_at, coalesce(e.dead_letter, false) as dead_letter, e.terminal_receipt_id, e.result`
}

export interface TaskRow extends DefinitionRow, StateRow {
  readonly status: TaskStatus
  readonly place: Place
  readonly completed_at: number | null
  readonly dead_letter: boolean | number
  readonly terminal_receipt_id: string | null
  readonly result: string | null
}

type EndedTaskRow = TaskRow & {
  readonly status: TerminalStatus
  readonly completed_at: number
  readonly result: string
}

/** These columns are of one shelf: with the result the others are there. */
function isEnded(row: TaskRow): row is EndedTaskRow {
  return row.result !== null
}

export function taskFromRow(row: TaskRow): Task {
  return {
    definition: definitionFromRow(row),
    state: {
      status: row.status,
      place: row.place,
      ...stateFromRow(row),
      completedAt: row.completed_at,
      deadLetter: Boolean(row.dead_letter),
      terminalReceiptId: row.terminal_receipt_id,
      result: isEnded(row) ? resultFromRow(row) : null,
    },
  }
}
