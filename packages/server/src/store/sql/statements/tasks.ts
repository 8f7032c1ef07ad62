// Tasks: `tasks` holds what was asked for and never changes, `task_states` what became of it. A task's lock
// is the lock of its row in task_states.
import { bulk, names, type RowOf, type Session } from '../session.ts'
import { MOVED_STATE_COLUMNS, NEW_STATE_COLUMNS, STATE_COLUMNS } from '../state-row.ts'
import { DEFINITION_COLUMNS, taskColumns, type TaskRow } from '../task-row.ts'

const LOCK_TASKS = bulk(
  'lock_tasks',
  { task_id: 'uuid' },
  (x, words) => `
    select ${taskColumns(words)}
    from ${x}
    ${words.findLocked('task_states', 's', 's.tenant_id = $1 and s.task_id = x.task_id')}
    ${words.find('tasks', 't', 't.tenant_id = $1 and t.task_id = x.task_id')}`,
)

/**
 * One after the other in id order, so that two transactions that want the same tasks do not wait for each
 * other.
 */
export function lockTasks(
  session: Session,
  tenantId: string,
  taskIds: readonly string[],
): Promise<TaskRow[]> {
  return session.each(
    LOCK_TASKS,
    tenantId,
    taskIds.toSorted().map((task_id) => ({ task_id })),
  )
}

const PEEK_TASKS = bulk(
  'peek_tasks',
  { task_id: 'uuid' },
  (x, words) => `
    select ${taskColumns(words)}
    from ${x}
    ${words.find('task_states', 's', 's.tenant_id = $1 and s.task_id = x.task_id')}
    ${words.find('tasks', 't', 't.tenant_id = $1 and t.task_id = x.task_id')}`,
)

export function peekTasks(
  session: Session,
  tenantId: string,
  taskIds: readonly string[],
): Promise<TaskRow[]> {
  return session.each(
    PEEK_TASKS,
    tenantId,
    taskIds.map((task_id) => ({ task_id })),
  )
}

const IDEMPOTENT_TASKS = bulk(
  'idempotent_tasks',
  { hash: 'hex' },
  (x, words) => `
    select ${taskColumns(words)}
    from ${x}
    ${words.find('tasks', 't', `t.tenant_id = $1 and t.idempotency_hash = ${words.unhex('x.hash')}`)}
    ${words.find('task_states', 's', 's.tenant_id = $1 and s.task_id = t.task_id')}`,
)

export function idempotentTasks(
  session: Session,
  tenantId: string,
  hashes: readonly string[],
): Promise<TaskRow[]> {
  return session.each(
    IDEMPOTENT_TASKS,
    tenantId,
    hashes.map((hash) => ({ hash })),
  )
}

const INSERT_TASKS = bulk(
  'insert_tasks',
  DEFINITION_COLUMNS,
  (x, { unhex }) => `
    insert into tasks (tenant_id, ${names(DEFINITION_COLUMNS)})
    select $1, x.task_id, x.type, x.lane, x.priority, x.created_by_kind, x.created_by_id, x.recipient_kind,
      x.recipient_id, ${unhex('x.idempotency_hash')}, ${unhex('x.request_hash')}, x.concurrency_key, x.concurrency_limit,
      x.deadline_at, x.created_at, x.assigned_receipt_id, x.payload, x.definition
    from ${x}`,
)

export function insertTasks(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof DEFINITION_COLUMNS>[],
): Promise<never[]> {
  return session.each(INSERT_TASKS, tenantId, rows)
}

const INSERT_STATES = bulk(
  'insert_states',
  STATE_COLUMNS,
  (x) => `
    insert into task_states (tenant_id, ${names(STATE_COLUMNS)})
    select $1, ${names(STATE_COLUMNS, 'x')}
    from ${x}`,
)

export function insertStates(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof STATE_COLUMNS>[],
): Promise<never[]> {
  return session.each(INSERT_STATES, tenantId, rows)
}

/** The columns that say what everybody can guess would cost as much to read as the others. */
const INSERT_NEW_STATES = bulk(
  'insert_new_states',
  NEW_STATE_COLUMNS,
  (x) => `
    insert into task_states (tenant_id, ${names(NEW_STATE_COLUMNS)}, status, attempt, expiries, fence, dead_letter, has_dependents)
    select $1, ${names(NEW_STATE_COLUMNS, 'x')}, 'queued', 0, 0, 0, false, false
    from ${x}`,
)

export function insertNewStates(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof NEW_STATE_COLUMNS>[],
): Promise<never[]> {
  return session.each(INSERT_NEW_STATES, tenantId, rows)
}

const MOVE_STATES = bulk('move_states', MOVED_STATE_COLUMNS, (x, words) =>
  words.update(
    { table: 'task_states', keys: ['task_id'], input: x },
    'status = x.status, place = x.place, fence = x.fence, updated_at = x.updated_at',
  ),
)

export function moveStates(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof MOVED_STATE_COLUMNS>[],
): Promise<never[]> {
  return session.each(MOVE_STATES, tenantId, rows)
}

const UPDATE_STATES = bulk('update_states', STATE_COLUMNS, (x, words) =>
  words.update(
    { table: 'task_states', keys: ['task_id'], input: x },
    `status = x.status, place = x.place, attempt = x.attempt, expiries = x.expiries, fence = x.fence,
      next_eligible_at = x.next_eligible_at, updated_at = x.updated_at, started_at = x.started_at,
      completed_at = x.completed_at, dead_letter = x.dead_letter, has_dependents = x.has_dependents,
      terminal_receipt_id = x.terminal_receipt_id, result = x.result`,
  ),
)

export function updateStates(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof STATE_COLUMNS>[],
): Promise<never[]> {
  return session.each(UPDATE_STATES, tenantId, rows)
}

const INSERT_TAGS = bulk(
  'insert_tags',
  { tag: 'text', task_id: 'uuid' },
  (x) => `
    insert into task_tags (tenant_id, tag, task_id)
    select $1, x.tag, x.task_id
    from ${x}
    where true
    on conflict do nothing`,
)

export function insertTags(
  session: Session,
  tenantId: string,
  rows: readonly { tag: string; task_id: string }[],
): Promise<never[]> {
  return session.each(INSERT_TAGS, tenantId, rows)
}

const INSERT_LANES = bulk(
  'insert_lanes',
  { lane: 'text', capabilities: 'texts' },
  (x) => `
    insert into lanes (tenant_id, lane, capabilities)
    select $1, x.lane, x.capabilities
    from ${x}
    where true
    on conflict do nothing`,
)

export function insertLanes(
  session: Session,
  tenantId: string,
  rows: readonly { lane: string; capabilities: readonly string[] }[],
): Promise<never[]> {
  return session.each(INSERT_LANES, tenantId, rows)
}
