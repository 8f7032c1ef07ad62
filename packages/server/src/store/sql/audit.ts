// The audit log in SQL.
import type { AuditQuery, AuditRow, AuditStore } from '../audit.ts'
import { buildFilter } from './filter.ts'
import type { Driver } from './session.ts'
import { appendAudit, type AuditRecord, foreignOwner, listAudit, pruneAudit } from './statements/audit.ts'
import { inTransaction } from './transact.ts'
import { isUuid, LAST_UUID } from './uuid.ts'

export function createSqlAudit(driver: Driver): AuditStore {
  const { reader, scanner } = driver
  return {
    appendAudit: (rows) =>
      inTransaction(
        driver,
        async (tx) => void (await Promise.all(rows.map((row) => appendAudit(tx, recordOf(row))))),
      ),
    listAudit: async (wanted) => (await listAudit(reader, filterOf(wanted), wanted.limit)).map(toRow),
    pruneAudit: (before, limit) =>
      inTransaction(driver, async (tx) => (await pruneAudit(tx, before, limit)).length),
    findForeignOwner: async (tenantId, id) =>
      isUuid(id) ? ((await foreignOwner(scanner, tenantId, id))[0]?.tenant_id ?? null) : null,
  }
}

function filterOf({ tenantId, before, event, severity, since }: AuditQuery) {
  return buildFilter([tenantId, before ?? LAST_UUID], {
    event: ['event = ?', event],
    severity: ['severity = ?', severity],
    since: ['at >= ?', since],
  })
}

function toRow(record: AuditRecord): AuditRow {
  const { principal_kind: kind, principal_id: id } = record
  return {
    tenantId: record.tenant_id,
    auditId: record.audit_id,
    at: record.at,
    event: record.event,
    severity: record.severity,
    principal: kind === null || id === null ? null : { kind, id },
    ip: record.ip,
    userAgent: record.user_agent,
    requestId: record.request_id,
    reason: record.reason,
  }
}

function recordOf(row: AuditRow): AuditRecord {
  return {
    tenant_id: row.tenantId,
    audit_id: row.auditId,
    at: row.at,
    event: row.event,
    severity: row.severity,
    principal_kind: row.principal?.kind ?? null,
    principal_id: row.principal?.id ?? null,
    ip: row.ip,
    user_agent: row.userAgent,
    request_id: row.requestId,
    reason: row.reason,
  }
}
