// Progress reports: a numbered history for each task.
import type { ProgressReport } from '../../../engine/model.ts'
import type { Numbered } from '../../port.ts'
import { bulk, query, type RowOf, type Session } from '../session.ts'

const REPORT = {
  task_id: 'uuid',
  worker_id: 'text',
  fence: 'int',
  reported_at: 'bigint',
  progress: 'json',
} as const

const INSERT_PROGRESS = bulk(
  'insert_progress',
  REPORT,
  (x) => `
    insert into progress (tenant_id, task_id, position, worker_id, fence, reported_at, progress)
    select $1, x.task_id,
      1 + coalesce((select max(p.position) from progress p where p.tenant_id = $1 and p.task_id = x.task_id), 0),
      x.worker_id, x.fence, x.reported_at, x.progress
    from ${x}`,
)

/** One report of a task at a time: the next number is read from the ones before. */
export function insertProgress(
  session: Session,
  tenantId: string,
  rows: readonly RowOf<typeof REPORT>[],
): Promise<never[]> {
  return session.each(INSERT_PROGRESS, tenantId, rows)
}

export function progressRow(report: ProgressReport): RowOf<typeof REPORT> {
  return {
    task_id: report.taskId,
    worker_id: report.workerId,
    fence: report.fence,
    reported_at: report.reportedAt,
    progress: report.progress,
  }
}

interface ProgressRow {
  readonly position: number
  readonly task_id: string
  readonly worker_id: string
  readonly fence: number
  readonly reported_at: number
  readonly progress: string
}

const LIST_PROGRESS = query(
  'list_progress',
  () => `
    select position, task_id, worker_id, fence, reported_at, progress
    from progress
    where tenant_id = $1 and task_id = $2 and position > $3
    order by position
    limit $4`,
)

export async function listProgress(
  session: Session,
  of: { tenantId: string; taskId: string; after: number; limit: number },
): Promise<Numbered<ProgressReport>[]> {
  const rows = await session.all<ProgressRow>(LIST_PROGRESS, [of.tenantId, of.taskId, of.after, of.limit])
  return rows.map((row) => ({
    position: row.position,
    taskId: row.task_id,
    workerId: row.worker_id,
    fence: row.fence,
    reportedAt: row.reported_at,
    progress: JSON.parse(row.progress) as unknown,
  }))
}
