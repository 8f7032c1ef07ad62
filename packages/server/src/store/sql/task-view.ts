// A task as readers see it: with its active lease and its latest progress.
import type { TaskView } from '../port.ts'
import { LEASE_COLUMNS, leaseFromRow, type LeaseRow } from './lease-row.ts'
import { query, type Session, type Words } from './session.ts'
import { ACTIVE } from './statements/leases.ts'
import { taskColumns, taskFromRow, type TaskRow } from './task-row.ts'

type LeasePart = { readonly [K in keyof LeaseRow as `lease__${K}`]: LeaseRow[K] | null }

export type TaskViewRow = TaskRow & LeasePart & { readonly progress: string | null }

const LEASE_NAMES = Object.keys(LEASE_COLUMNS) as (keyof LeaseRow)[]

/** `l` is the active lease, from a left join. */
export function taskViewColumns(words: Words): string {
  const lease = LEASE_NAMES.map((name) => `l.${name} as lease__${name}`).join(', ')
  return `${taskColumns(words)}, ${lease}, (
    select p.progress from progress p
    where p.tenant_id = t.tenant_id and p.task_id = t.task_id
    order by p.position desc
    limit 1
  ) as progress`
}

export function activeLease(words: Words): string {
  return words.findOptional(
    'leases',
    'l',
    `l.tenant_id = t.tenant_id and l.task_id = t.task_id and ${ACTIVE}`,
  )
}

const READ_TASK = query(
  'read_task',
  (words) => `
    select ${taskViewColumns(words)}
    from tasks t
    ${words.find('task_states', 's', 's.tenant_id = t.tenant_id and s.task_id = t.task_id')}
    ${activeLease(words)}
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
