// The audit log in SQL.
import type { AuditQuery, AuditRow, AuditStore } from '../audit.ts'
import { buildFilter } from './filter.ts'
import type { Driver, Transaction } from './session.ts'
import {
  agedAudit,
  appendAudit,
  type AuditRecord,
  foreignOwner,
  listAudit,
  removeAudit,
} from './statements/audit.ts'
import { inTransaction } from './transact.ts'
import { isUuid, LAST_UUID } from './uuid.ts'

export function createSqlAudit(driver: Driver): AuditStore {
  const { readerOf, acrossTenants, scanner } = driver
  return {
    appendAudit: async (rows) => {
      const [first, ...others] = Map.groupBy(rows, ({ tenantId }) => tenantId)
      if (first === undefined) return
      await inTransaction({ driver, tenantId: first[0] }, async (tx) => {
        await appendAll(tx, first[1])
        for (const [tenantId, own] of others) await Promise.all([tx.enter(tenantId), appendAll(tx, own)])
      })
    },
    listAudit: async (wanted) =>
      (await listAudit(readerOf(wanted.tenantId), filterOf(wanted), wanted.limit)).map(toRow),
    pruneAudit: async (before, limit) => {
      const aged = await agedAudit(acrossTenants, before, limit)
      let removed = 0
      for (const [tenantId, rows] of Map.groupBy(aged, (row) => row.tenant_id)) {
        removed += await inTransaction(
          { driver, tenantId },
          async (tx) => (await removeAudit(tx, tenantId, rows)).length,
        )
      }
      return removed
    },
    findForeignOwner: async (tenantId, id) =>
      isUuid(id) ? ((await foreignOwner(scanner, tenantId, id))[0]?.tenant_id ?? null) : null,
  }
}

async function appendAll(tx: Transaction, rows: readonly AuditRow[]): Promise<void> {
  await Promise.all(rows.map((row) => appendAudit(tx, recordOf(row))))
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
