// Tasks that a worker holds, with their leases, between rows and values.
import type { Lease, PrincipalKind, Task, TaskDefinition, TaskStatus } from '../../engine/model.ts'
import { names, type RowOf } from './session.ts'
import type { Addressed, Shelved } from './shelved.ts'
import { NOT_ENDED, STATE_COLUMNS, stateFromRow, type StateRow, stateToRow } from './state-row.ts'

const LEASE_COLUMNS = {
  lease_id: 'uuid',
  worker_kind: 'text',
  worker_id: 'text',
  granted_at: 'bigint',
  ttl_ms: 'bigint',
  expires_at: 'bigint',
  timeout_at: 'bigint',
  check_at: 'bigint',
  renewals: 'int',
} as const

export const LEASED_COLUMNS = {
  task_id: 'uuid',
  status: 'text',
  concurrency_key: 'text',
  ...LEASE_COLUMNS,
  ...STATE_COLUMNS,
} as const

/** What a start changes, and a dependent. */
export const LEASED_CHANGES = {
  task_id: 'uuid',
  status: 'text',
  updated_at: 'bigint',
  started_at: 'bigint',
  has_dependents: 'boolean',
} as const

/** What a renewal changes. */
export const RENEWAL = { task_id: 'uuid', expires_at: 'bigint', check_at: 'bigint', renewals: 'int' } as const

export const LEASED_STATE = names(LEASED_COLUMNS, 's')

export interface LeaseRow {
  readonly task_id: string
  readonly lease_id: string
  readonly worker_kind: PrincipalKind
  readonly worker_id: string
  readonly fence: number
  readonly granted_at: number
  readonly ttl_ms: number
  readonly expires_at: number
  readonly timeout_at: number | null
  readonly check_at: number
  readonly renewals: number
  readonly concurrency_key: string | null
}

export interface LeasedRow extends StateRow, LeaseRow, Addressed {
  readonly fence: number
  readonly status: TaskStatus
}

export function leasedToRow({ definition, state }: Task, lease: Lease): RowOf<typeof LEASED_COLUMNS> {
  return {
    task_id: definition.taskId,
    status: state.status,
    concurrency_key: lease.concurrencyKey,
    lease_id: lease.leaseId,
    worker_kind: lease.worker.kind,
    worker_id: lease.worker.id,
    granted_at: lease.grantedAt,
    ttl_ms: lease.ttlMs,
    expires_at: lease.expiresAt,
    timeout_at: lease.timeoutAt,
    check_at: lease.checkAt,
    renewals: lease.renewals,
    ...stateToRow(state),
  }
}

export function leasedToChange({ definition, state }: Task): RowOf<typeof LEASED_CHANGES> {
  return {
    task_id: definition.taskId,
    status: state.status,
    updated_at: state.updatedAt,
    started_at: state.startedAt,
    has_dependents: state.hasDependents,
  }
}

export function leaseToRenewal(lease: Lease): RowOf<typeof RENEWAL> {
  return {
    task_id: lease.taskId,
    expires_at: lease.expiresAt,
    check_at: lease.checkAt,
    renewals: lease.renewals,
  }
}

export function leasedFromRow(row: LeasedRow, definition: TaskDefinition): Shelved {
  return {
    definition,
    state: { status: row.status, place: 'none', ...stateFromRow(row), ...NOT_ENDED },
    address: row.address,
  }
}

export function leaseFromRow(row: LeaseRow): Lease {
  return {
    leaseId: row.lease_id,
    taskId: row.task_id,
    worker: { kind: row.worker_kind, id: row.worker_id },
    fence: row.fence,
    grantedAt: row.granted_at,
    ttlMs: row.ttl_ms,
    expiresAt: row.expires_at,
    timeoutAt: row.timeout_at,
    checkAt: row.check_at,
    renewals: row.renewals,
    concurrencyKey: row.concurrency_key,
    endedAt: null,
    end: null,
    settlement: null,
  }
}
