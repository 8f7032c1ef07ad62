// Leases between rows and values.
import type { Lease, LeaseEnd, PrincipalKind, Settlement } from '../../engine/model.ts'
import type { RowOf } from './session.ts'

export const LEASE_COLUMNS = {
  lease_id: 'uuid',
  task_id: 'uuid',
  worker_kind: 'text',
  worker_id: 'text',
  fence: 'int',
  granted_at: 'bigint',
  ttl_ms: 'bigint',
  expires_at: 'bigint',
  timeout_at: 'bigint',
  check_at: 'bigint',
  renewals: 'int',
  concurrency_key: 'text',
  ended_at: 'bigint',
  end_kind: 'text',
  settlement: 'json',
} as const

/** What can change in a lease. */
export const LEASE_CHANGES = {
  lease_id: 'uuid',
  expires_at: 'bigint',
  check_at: 'bigint',
  renewals: 'int',
  ended_at: 'bigint',
  end_kind: 'text',
  settlement: 'json',
} as const

export interface LeaseRow {
  readonly lease_id: string
  readonly task_id: string
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
  readonly ended_at: number | null
  readonly end_kind: LeaseEnd | null
  readonly settlement: string | null
}

export function leaseToRow(lease: Lease): RowOf<typeof LEASE_COLUMNS> {
  return {
    lease_id: lease.leaseId,
    task_id: lease.taskId,
    worker_kind: lease.worker.kind,
    worker_id: lease.worker.id,
    fence: lease.fence,
    granted_at: lease.grantedAt,
    ttl_ms: lease.ttlMs,
    expires_at: lease.expiresAt,
    timeout_at: lease.timeoutAt,
    check_at: lease.checkAt,
    renewals: lease.renewals,
    concurrency_key: lease.concurrencyKey,
    ended_at: lease.endedAt,
    end_kind: lease.end,
    settlement: lease.settlement,
  }
}

export function leaseToChange(lease: Lease): RowOf<typeof LEASE_CHANGES> {
  return {
    lease_id: lease.leaseId,
    expires_at: lease.expiresAt,
    check_at: lease.checkAt,
    renewals: lease.renewals,
    ended_at: lease.endedAt,
    end_kind: lease.end,
    settlement: lease.settlement,
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
    endedAt: row.ended_at,
    end: row.end_kind,
    settlement: row.settlement === null ? null : (JSON.parse(row.settlement) as Settlement), // written from one
  }
}
