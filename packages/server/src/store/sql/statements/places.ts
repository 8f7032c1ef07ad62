// Where queued tasks stand: `ready` is all that a claim looks at, `delayed` waits for a time, `parked` for
// room under a concurrency key. A task is in at most one of them, and task_states.place says in which.
import type { Task } from '../../../engine/model.ts'
import { bulk, names, query, type RowOf, type Session } from '../session.ts'

export const READY_COLUMNS = { lane: 'text', type: 'text', neg_priority: 'int', task_id: 'uuid' } as const
export const DELAYED_COLUMNS = { eligible_at: 'bigint', ...READY_COLUMNS } as const
export const PARKED_COLUMNS = { concurrency_key: 'text', concurrency_limit: 'int', ...READY_COLUMNS } as const

export type ReadyRow = RowOf<typeof READY_COLUMNS>
export type DelayedRow = RowOf<typeof DELAYED_COLUMNS>
export type ParkedRow = RowOf<typeof PARKED_COLUMNS>

export function readyRow({ definition }: Task): ReadyRow {
  const { lane, type, priority, taskId } = definition
  return { lane, type, neg_priority: -priority, task_id: taskId }
}

export function delayedRow(task: Task): DelayedRow {
  return { eligible_at: task.state.nextEligibleAt, ...readyRow(task) }
}

export function parkedRow(task: Task): ParkedRow {
  const { concurrencyKey, concurrencyLimit } = task.definition
  return { concurrency_key: concurrencyKey, concurrency_limit: concurrencyLimit, ...readyRow(task) }
}

const INSERT_READY = bulk(
  'insert_ready',
  READY_COLUMNS,
  (x) => `
    insert into ready (tenant_id, ${names(READY_COLUMNS)})
    select $1, ${names(READY_COLUMNS, 'x')}
    from ${x}`,
)

export function insertReady(session: Session, tenantId: string, rows: readonly ReadyRow[]): Promise<never[]> {
  return session.each(INSERT_READY, tenantId, rows)
}

const DELETE_READY = bulk('delete_ready', READY_COLUMNS, (x, words) =>
  words.delete({ table: 'ready', keys: ['lane', 'type', 'neg_priority', 'task_id'], input: x }),
)

export function deleteReady(session: Session, tenantId: string, rows: readonly ReadyRow[]): Promise<never[]> {
  return session.each(DELETE_READY, tenantId, rows)
}

const INSERT_DELAYED = bulk(
  'insert_delayed',
  DELAYED_COLUMNS,
  (x) => `
    insert into delayed (tenant_id, ${names(DELAYED_COLUMNS)})
    select $1, ${names(DELAYED_COLUMNS, 'x')}
    from ${x}`,
)

export function insertDelayed(
  session: Session,
  tenantId: string,
  rows: readonly DelayedRow[],
): Promise<never[]> {
  return session.each(INSERT_DELAYED, tenantId, rows)
}

const DELETE_DELAYED = bulk('delete_delayed', { eligible_at: 'bigint', task_id: 'uuid' }, (x, words) =>
  words.delete({ table: 'delayed', keys: ['eligible_at', 'task_id'], input: x }),
)

export function deleteDelayed(
  session: Session,
  tenantId: string,
  rows: readonly Pick<DelayedRow, 'eligible_at' | 'task_id'>[],
): Promise<never[]> {
  return session.each(DELETE_DELAYED, tenantId, rows)
}

const INSERT_PARKED = bulk(
  'insert_parked',
  PARKED_COLUMNS,
  (x) => `
    insert into parked (tenant_id, ${names(PARKED_COLUMNS)})
    select $1, ${names(PARKED_COLUMNS, 'x')}
    from ${x}`,
)

export function insertParked(
  session: Session,
  tenantId: string,
  rows: readonly ParkedRow[],
): Promise<never[]> {
  return session.each(INSERT_PARKED, tenantId, rows)
}

const DELETE_PARKED = bulk('delete_parked', PARKED_COLUMNS, (x, words) =>
  words.delete({
    table: 'parked',
    keys: ['concurrency_key', 'lane', 'type', 'concurrency_limit', 'neg_priority', 'task_id'],
    input: x,
  }),
)

export function deleteParked(
  session: Session,
  tenantId: string,
  rows: readonly ParkedRow[],
): Promise<never[]> {
  return session.each(DELETE_PARKED, tenantId, rows)
}

// The time is compared again under the lock: since this row was read the task may have been taken, failed and
// delayed anew.
const DUE_DELAYED = query(
  'due_delayed',
  (words) => `
    select d.eligible_at, d.lane, d.type, d.neg_priority, d.task_id
    from delayed d
    ${words.findFree('task_states', 's', "s.tenant_id = $1 and s.task_id = d.task_id and s.place = 'delayed' and s.next_eligible_at = d.eligible_at")}
    where d.tenant_id = $1 and d.eligible_at <= $2
    order by d.eligible_at, d.task_id
    limit $3`,
)

export function dueDelayed(
  session: Session,
  tenantId: string,
  { now, limit }: { now: number; limit: number },
): Promise<DelayedRow[]> {
  return session.all(DUE_DELAYED, [tenantId, now, limit])
}

const MARK_READY = bulk('mark_ready', { task_id: 'uuid' }, (x, words) =>
  words.update({ table: 'task_states', keys: ['task_id'], input: x }, "place = 'ready'"),
)

export function markReady(
  session: Session,
  tenantId: string,
  rows: readonly { task_id: string | null }[],
): Promise<never[]> {
  return session.each(MARK_READY, tenantId, rows)
}

const NEXT_ELIGIBLE_AT = query(
  'next_eligible_at',
  () => 'select min(eligible_at) as eligible_at from delayed where tenant_id = $1',
)

export async function nextEligibleAt(session: Session, tenantId: string): Promise<number | null> {
  const [row] = await session.all<{ eligible_at: number | null }>(NEXT_ELIGIBLE_AT, [tenantId])
  return row?.eligible_at ?? null
}
