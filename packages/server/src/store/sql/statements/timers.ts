// Timers: moments at which the engine must look at a task again.
import type { Timer } from '../../../engine/model.ts'
import { bulk, query, type Session } from '../session.ts'

const SET_TIMERS = bulk(
  'set_timers',
  { task_id: 'uuid', kind: 'text', due_at: 'bigint' },
  (x) => `
    insert into timers (tenant_id, task_id, kind, due_at)
    select $1, x.task_id, x.kind, x.due_at
    from ${x}
    where true
    on conflict (tenant_id, task_id, kind) do update set due_at = excluded.due_at`,
)

export function setTimers(
  session: Session,
  tenantId: string,
  rows: readonly { task_id: string; kind: string; due_at: number }[],
): Promise<never[]> {
  return session.each(SET_TIMERS, tenantId, rows)
}

const REMOVE_TIMERS = bulk('remove_timers', { task_id: 'uuid', kind: 'text' }, (x, words) =>
  words.delete({ table: 'timers', keys: ['task_id', 'kind'], input: x }),
)

export function removeTimers(
  session: Session,
  tenantId: string,
  rows: readonly { task_id: string; kind: string }[],
): Promise<never[]> {
  return session.each(REMOVE_TIMERS, tenantId, rows)
}

/** Of all tenants: the sweep is the system's. */
const DUE_TIMERS = query(
  'due_timers',
  () => `
    select tenant_id, task_id, kind from timers
    where due_at <= $1
    order by due_at
    limit $2`,
)

export function dueTimers(
  session: Session,
  { now, limit }: { now: number; limit: number },
): Promise<{ tenant_id: string; task_id: string; kind: Timer['kind'] }[]> {
  return session.all(DUE_TIMERS, [now, limit])
}
