// The registry of task types.
import { bulk, query, type Session, type Value } from '../session.ts'

export interface TaskTypeRow {
  readonly tenant_id: string
  readonly type: string
  readonly description: string | null
  readonly params_schema: string | null
  readonly default_priority: number | null
  readonly default_max_attempts: number | null
  readonly default_timeout_seconds: number | null
  readonly default_retention_days: number | null
  readonly default_result_channel: string | null
  readonly estimated_runtime_seconds: number | null
  readonly poll_suggestion_seconds: number | null
  readonly max_payload_bytes: number | null
  readonly max_concurrent: number | null
  readonly enabled: boolean | number
  readonly created_at: number
  readonly updated_at: number
}

/** What a new registration replaces. */
const REPLACED = [
  ...['description', 'params_schema', 'default_priority', 'default_max_attempts', 'default_timeout_seconds'],
  ...['default_retention_days', 'default_result_channel', 'estimated_runtime_seconds'],
  ...['poll_suggestion_seconds', 'max_payload_bytes', 'max_concurrent', 'enabled', 'updated_at'],
] as const satisfies readonly (keyof TaskTypeRow)[]
const COLUMNS = [
  'tenant_id',
  'type',
  ...REPLACED,
  'created_at',
] as const satisfies readonly (keyof TaskTypeRow)[]
const columns = COLUMNS.join(', ')

const READ_TYPE = query(
  'read_type',
  () => `select ${columns} from task_types where tenant_id = $1 and type = $2`,
)

export async function readType(
  session: Session,
  tenantId: string,
  type: string,
): Promise<TaskTypeRow | undefined> {
  return (await session.all<TaskTypeRow>(READ_TYPE, [tenantId, type]))[0]
}

const LIST_TYPES = query(
  'list_types',
  () =>
    `select ${columns} from task_types where tenant_id = $1 and type > $2 order by tenant_id, type limit $3`,
)

export function listTypes(
  session: Session,
  { tenantId, after, limit }: { tenantId: string; after: string; limit: number },
): Promise<TaskTypeRow[]> {
  return session.all(LIST_TYPES, [tenantId, after, limit])
}

const PUT_TYPE = query('put_type', () => {
  const places = COLUMNS.map((_column, index) => `$${index + 1}`).join(', ')
  return `
    insert into task_types (${columns}) values (${places})
    on conflict (tenant_id, type) do update set
      ${REPLACED.map((column) => `${column} = excluded.${column}`).join(', ')}
    returning ${columns}`
})

export async function putType(session: Session, row: TaskTypeRow): Promise<TaskTypeRow> {
  const [kept] = await session.all<TaskTypeRow>(
    PUT_TYPE,
    COLUMNS.map((column): Value => row[column]),
  )
  return kept!
}

const DELETE_TYPE = query(
  'delete_type',
  () => `delete from task_types where tenant_id = $1 and type = $2 returning ${columns}`,
)

export async function deleteType(
  session: Session,
  tenantId: string,
  type: string,
): Promise<TaskTypeRow | undefined> {
  return (await session.all<TaskTypeRow>(DELETE_TYPE, [tenantId, type]))[0]
}

const TYPE_LIMITS = bulk(
  'type_limits',
  { type: 'text' },
  (x, { find }) => `
    select t.type as type, t.max_concurrent as max_concurrent
    from ${x}
    ${find('task_types', 't', 't.tenant_id = $1 and t.type = x.type')}
    where t.max_concurrent is not null`,
)

export function typeLimits(
  session: Session,
  tenantId: string,
  types: readonly string[],
): Promise<{ type: string; max_concurrent: number }[]> {
  const rows = types.map((type) => ({ type }))
  return session.each(TYPE_LIMITS, tenantId, rows)
}

const READ_REGISTERED_ONLY = query(
  'read_registered_only',
  () => 'select tenant_id from registered_only where tenant_id = $1',
)

export async function readRegisteredOnly(session: Session, tenantId: string): Promise<boolean> {
  return (await session.all(READ_REGISTERED_ONLY, [tenantId])).length > 0
}

const ADD_REGISTERED_ONLY = query(
  'add_registered_only',
  () => 'insert into registered_only (tenant_id) values ($1) on conflict do nothing',
)
const REMOVE_REGISTERED_ONLY = query(
  'remove_registered_only',
  () => 'delete from registered_only where tenant_id = $1',
)

export async function setRegisteredOnly(
  session: Session,
  tenantId: string,
  registeredOnly: boolean,
): Promise<void> {
  await session.all(registeredOnly ? ADD_REGISTERED_ONLY : REMOVE_REGISTERED_ONLY, [tenantId])
}
