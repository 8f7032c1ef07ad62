// The part of the store's port that keeps the audit log.
import type { AuditEvent, AuditSeverity } from '@asyncgate/sdk'
import type { Principal } from '../engine/model.ts'

export interface AuditRow {
  /** Whose log it is in. */
  readonly tenantId: string
  /** Grows with time: the order of the log. */
  readonly auditId: string
  readonly at: number
  readonly event: AuditEvent
  readonly severity: AuditSeverity
  readonly principal: Principal | null
  readonly ip: string | null
  readonly userAgent: string | null
  readonly requestId: string
  readonly reason: string
}

/** Newest first; `before` is the id of the last row of the page before. */
export interface AuditQuery {
  readonly tenantId: string
  readonly event: AuditEvent | null
  readonly severity: AuditSeverity | null
  readonly since: number | null
  readonly before: string | null
  readonly limit: number
}

export interface AuditStore {
  /** All or none. */
  appendAudit(rows: readonly AuditRow[]): Promise<void>
  listAudit(query: AuditQuery): Promise<readonly AuditRow[]>
  /** Removes at most `limit` of the oldest rows from before that time; how many they were. */
  pruneAudit(before: number, limit: number): Promise<number>
  /** Another tenant that has a task, lease, receipt, key, account or client of that id. Looks at each tenant, so nobody should wait for it. */
  findForeignOwner(tenantId: string, id: string): Promise<string | null>
}
