// A task as readers see it: with its active lease and its latest progress.
import type { TaskView } from '../port.ts'
import { leaseFromRow, type LeaseRow } from './leased-row.ts'
import { query, type Session, type Words } from './session.ts'
import { shelves, taskColumns, taskFromRow, type TaskRow } from './task-row.ts'

type LeasePart = { readonly [K in keyof LeaseRow as `lease__${K}`]: LeaseRow[K] | null }

export type TaskViewRow = TaskRow & LeasePart & { readonly progress: string | null }

const LEASE_NAMES: readonly (keyof LeaseRow)[] = [
  ...(['task_id', 'lease_id', 'worker_kind', 'worker_id', 'fence', 'granted_at', 'ttl_ms'] as const),
  ...(['expires_at', 'timeout_at', 'check_at', 'renewals', 'concurrency_key'] as const),
]

/** `t` is tasks, beside the shelves. */
export function taskViewColumns(words: Words): string {
  const lease = LEASE_NAMES.map((name) => `l.${name} as lease__${name}`).join(', ')
  return `${taskColumns(words)}, ${lease}, (
    select p.progress from progress p
    where p.tenant_id = t.tenant_id and p.task_id = t.task_id
    order by p.position desc
    limit 1
  ) as progress`
}

const READ_TASK = query(
  'read_task',
  (words) => `
    select ${taskViewColumns(words)}
    from tasks t
    ${shelves(words, 't')}
    where t.tenant_id = $1 and t.task_id = $2`,
)

export async function readTask(session: Session, tenantId: string, taskId: string): Promise<TaskView | null> {
  const [row] = await session.all<TaskViewRow>(READ_TASK, [tenantId, taskId])
  return row === undefined ? null : taskViewFromRow(row)
}

export function taskViewFromRow(row: TaskViewRow): TaskView {
  return {
    ...taskFromRow(row),
    lease: row.lease__lease_id === null ? null : leaseFromRow(leaseOf(row)),
    progress: row.progress === null ? null : (JSON.parse(row.progress) as unknown),
  }
}

function leaseOf(row: TaskViewRow): LeaseRow {
  // The left join found a lease, so its columns are those of a lease.
  return Object.fromEntries(LEASE_NAMES.map((name) => [name, row[`lease__${name}`]])) as unknown as LeaseRow
}
