// Who waits for whom. A row is `due` once the task that it waits for has ended.
import { bulk, query, type Session } from '../session.ts'
import { NIL } from './ledger.ts'

const INSERT_DEPENDENCIES = bulk(
  'insert_dependencies',
  { task_id: 'uuid', depends_on: 'uuid' },
  (x) => `
    insert into dependencies (tenant_id, task_id, depends_on, due)
    select $1, x.task_id, x.depends_on, false
    from ${x}
    where true
    on conflict do nothing`,
)

export function insertDependencies(
  session: Session,
  tenantId: string,
  rows: readonly { task_id: string; depends_on: string }[],
): Promise<never[]> {
  return session.each(INSERT_DEPENDENCIES, tenantId, rows)
}

/** Names the index by what is depended on, for which it is made, so that nothing else is looked up in it. */
const isDependedOn = (row: string) => `${row}.depends_on > '${NIL}'`

const MARK_DUE = bulk('mark_due', { depends_on: 'uuid' }, (x, words) =>
  words.update(
    { table: 'dependencies', keys: ['depends_on'], input: x, and: isDependedOn, along: 'due' },
    'due = true',
  ),
)

export function markDue(session: Session, tenantId: string, ended: readonly string[]): Promise<never[]> {
  return session.each(
    MARK_DUE,
    tenantId,
    ended.map((depends_on) => ({ depends_on })),
  )
}

const SETTLE_DEPENDENTS = bulk(
  'settle_dependents',
  { task_id: 'uuid' },
  (x, words) => `
    delete from dependencies
    where tenant_id = $1 and ${words.among('task_id', `select x.task_id from ${x}`)}`,
)

export function settleDependents(
  session: Session,
  tenantId: string,
  taskIds: readonly string[],
): Promise<never[]> {
  return session.each(
    SETTLE_DEPENDENTS,
    tenantId,
    taskIds.map((task_id) => ({ task_id })),
  )
}

/** `definition` holds all that the task was made to depend on. */
export interface DependentRow {
  readonly tenant_id: string
  readonly task_id: string
  readonly definition: string
}

/**
 * Of all tenants: the sweep is the system's. A dependent that still waits for another task, and has not lost
 * one that matters to it, is left out: looking at it would change nothing, sweep after sweep. With `offset 0`, PostgreSQL looks up
 * what else a task waits for; by itself it would rather read all that anybody waits for.
 */
const DUE_DEPENDENTS = query(
  'due_dependents',
  (words) => `
    select distinct d.tenant_id, d.task_id, cast(t.definition as text) as definition
    from dependencies d
    ${words.find('tasks', 't', 't.tenant_id = d.tenant_id and t.task_id = d.task_id')}
    ${words.find('ended', 's', 's.tenant_id = d.tenant_id and s.task_id = d.depends_on')}
    where d.due and (
      (s.status <> 'succeeded' and coalesce(t.definition ->> 'onDependencyFailure', 'cancel') = 'cancel')
      or not exists (
        select 1 from dependencies other
        where other.tenant_id = d.tenant_id and other.task_id = d.task_id and not other.due
        limit 1 offset 0
      )
    )
    limit $1`,
)

export function dueDependents(session: Session, limit: number): Promise<DependentRow[]> {
  return session.all(DUE_DEPENDENTS, [limit])
}

const DEPENDENTS_OF = bulk(
  'dependents_of',
  { depends_on: 'uuid' },
  (x, words) => `
    select d.tenant_id, d.task_id, t.definition
    from ${x}
    ${words.find('dependencies', 'd', `d.tenant_id = $1 and d.depends_on = x.depends_on and ${isDependedOn('d')}`, 'd.due')}
    ${words.find('tasks', 't', 't.tenant_id = $1 and t.task_id = d.task_id')}`,
)

export function dependentsOf(
  session: Session,
  tenantId: string,
  taskIds: readonly string[],
): Promise<DependentRow[]> {
  return session.each(
    DEPENDENTS_OF,
    tenantId,
    taskIds.map((depends_on) => ({ depends_on })),
  )
}
