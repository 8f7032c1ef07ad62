// Figures for health and metrics, over all tenants: counts from narrow indexes.
import type { TaskStatus } from '../../engine/model.ts'
import type { Stats } from '../port.ts'
import { listQuery, type Session } from './session.ts'

const BY_STATUS = listQuery(
  'stats_by_status',
  () => `
    select 'queued' as status, count(*) as total from queued
    union all
    select status, count(*) as total from leased group by status
    union all
    select status, count(*) as total from ended group by status`,
)

const READY = listQuery(
  'stats_ready',
  () => `
    select count(*) as total, (
      select t.created_at
      from (select tenant_id, task_id from queued where place = 'ready' order by task_id limit 1) as oldest
      join tasks t on t.tenant_id = oldest.tenant_id and t.task_id = oldest.task_id
    ) as oldest_at
    from queued
    where place = 'ready'`,
)

const DELAYED = listQuery(
  'stats_delayed',
  () => "select count(*) as total from queued where place = 'delayed'",
)

const LEASES = listQuery(
  'stats_leases',
  () => 'select count(*) as total, count(distinct worker_id) as workers from leased',
)

const OBLIGATIONS = listQuery('stats_obligations', () => 'select count(*) as total from obligations')

export async function readStats(session: Session): Promise<Stats> {
  const [byStatus, ready, delayed, leases, obligations] = await Promise.all([
    session.all<{ status: TaskStatus; total: number }>(BY_STATUS, []),
    session.all<{ total: number; oldest_at: number | null }>(READY, []),
    session.all<{ total: number }>(DELAYED, []),
    session.all<{ total: number; workers: number }>(LEASES, []),
    session.all<{ total: number }>(OBLIGATIONS, []),
  ])
  const none: Record<TaskStatus, number> = {
    queued: 0,
    leased: 0,
    running: 0,
    succeeded: 0,
    failed: 0,
    canceled: 0,
  }
  return {
    byStatus: { ...none, ...Object.fromEntries(byStatus.map(({ status, total }) => [status, total])) },
    ready: ready[0]?.total ?? 0,
    delayed: delayed[0]?.total ?? 0,
    activeLeases: leases[0]?.total ?? 0,
    workers: leases[0]?.workers ?? 0,
    oldestReadyAt: ready[0]?.oldest_at ?? null,
    openObligations: obligations[0]?.total ?? 0,
  }
}
