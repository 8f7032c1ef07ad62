// What was asked for: `tasks` holds it and never changes. What became of it lies on a shelf: `queued`, `leased` or `ended`.
import { DEFINITION_COLUMNS, definitionColumns, type DefinitionRow } from '../definition-row.ts'
import { bulk, names, type RowOf, type Session } from '../session.ts'
import { shelves, taskColumns, type TaskRow } from '../task-row.ts'

const PEEK_TASKS = bulk(
  'peek_tasks',
  { task_id: 'uuid' },
  (x, words) => `
    select ${taskColumns(words)}
    from ${x}
    ${words.find('tasks', 't', 't.tenant_id = $1 and t.task_id = x.task_id')}
    ${shelves(words, 't')}`,
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

const READ_DEFINITIONS = bulk(
  'read_definitions',
  { task_id: 'uuid' },
  (x, words) => `
    select ${definitionColumns(words)}
    from ${x}
    ${words.find('tasks', 't', 't.tenant_id = $1 and t.task_id = x.task_id')}`,
)

export function readDefinitions(
  session: Session,
  tenantId: string,
  taskIds: readonly string[],
): Promise<DefinitionRow[]> {
  return session.each(
    READ_DEFINITIONS,
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
    ${shelves(words, 't')}`,
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
