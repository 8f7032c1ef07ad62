// The audit log in memory.
import assert from 'node:assert/strict'
import type { AccountStore } from '../accounts.ts'
import type { AuditRow, AuditStore } from '../audit.ts'
import type { ClientStore } from '../clients.ts'
import type { KeyStore } from '../keys.ts'
import type { Tenant } from './tenant.ts'

type Named = Pick<KeyStore, 'readKey'> & Pick<AccountStore, 'findAccount'> & Pick<ClientStore, 'findClient'>

export function createMemoryAudit(
  tenants: ReadonlyMap<string, Tenant>,
  { readKey, findAccount, findClient }: Named,
): AuditStore {
  let rows: AuditRow[] = []
  return {
    appendAudit: async (added) => {
      const known = new Set(rows.map(({ auditId }) => auditId))
      assert(!added.some(({ auditId }) => known.has(auditId)), 'a row is written once')
      rows = [...rows, ...added].toSorted((a, b) => (a.auditId < b.auditId ? -1 : 1))
    },
    listAudit: async ({ tenantId, event, severity, since, before, limit }) =>
      rows
        .filter(
          (row) =>
            row.tenantId === tenantId &&
            (event === null || row.event === event) &&
            (severity === null || row.severity === severity) &&
            (since === null || row.at >= since) &&
            (before === null || row.auditId < before),
        )
        .toReversed()
        .slice(0, limit),
    pruneAudit: async (before, limit) => {
      const old = new Set(rows.filter(({ at }) => at < before).slice(0, limit))
      rows = rows.filter((row) => !old.has(row))
      return old.size
    },
    findForeignOwner: async (tenantId, id) => {
      for (const [other, tenant] of tenants) {
        if (other === tenantId) continue
        const isTheirs = tenant.tasks.has(id) || tenant.leases.has(id) || tenant.positions.has(id)
        if (isTheirs || (await readKey(other, id)) !== null) return other
      }
      const owner = ((await findAccount(id)) ?? (await findClient(id)))?.tenantId
      return owner === undefined || owner === tenantId ? null : owner
    },
  }
}
