// Keys, accounts, clients, tenants and the audit log as the wire shows them: everything but secrets and their hashes.
import type { GateContract, Output } from '@asyncgate/sdk'
import { iso } from '../clock.ts'
import type { Account } from '../store/accounts.ts'
import type { AuditRow } from '../store/audit.ts'
import type { OAuthClient } from '../store/clients.ts'
import type { ApiKey } from '../store/keys.ts'
import { limitsOf } from '../limits/tiers.ts'
import type { Tenant } from '../store/tenants.ts'
import { limitsToWire } from './view-limits.ts'

type WireKey = Output<GateContract['revokeKey']>

export function keyToWire(key: ApiKey, now: number): WireKey {
  return {
    key_id: key.keyId,
    prefix: key.prefix,
    name: key.name,
    principal: { principal_kind: key.principal.kind, principal_id: key.principal.id },
    role: key.role,
    scopes: [...key.scopes],
    status: statusOf(key, now),
    created_at: iso(key.createdAt),
    created_by: { principal_kind: key.createdBy.kind, principal_id: key.createdBy.id },
    expires_at: key.expiresAt === null ? null : iso(key.expiresAt),
    revoked_at: key.revokedAt === null ? null : iso(key.revokedAt),
  }
}

function statusOf({ revokedAt, expiresAt }: ApiKey, now: number): WireKey['status'] {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active'
}

type WireAccount = Output<GateContract['enableAccount']>

export function accountToWire(account: Account): WireAccount {
  const { tenantId, username, principal, createdBy, disabledAt } = account
  return {
    account_id: account.accountId,
    username,
    signs_in_as: `${tenantId}/${username}`,
    principal: { principal_kind: principal.kind, principal_id: principal.id },
    role: account.role as WireAccount['role'], // accounts are made with no other
    has_password: account.passwordHash !== null,
    subject: account.subject,
    status: disabledAt === null ? 'active' : 'disabled',
    created_at: iso(account.createdAt),
    created_by: { principal_kind: createdBy.kind, principal_id: createdBy.id },
    disabled_at: disabledAt === null ? null : iso(disabledAt),
  }
}

export function clientToWire(client: OAuthClient): Output<GateContract['revokeClient']> {
  const { createdBy, revokedAt } = client
  return {
    client_id: client.clientId,
    name: client.name,
    redirect_uris: [...client.redirectUris],
    status: revokedAt === null ? 'active' : 'revoked',
    created_at: iso(client.createdAt),
    created_by: { principal_kind: createdBy.kind, principal_id: createdBy.id },
    revoked_at: revokedAt === null ? null : iso(revokedAt),
  }
}

export function tenantToWire(tenant: Tenant): Output<GateContract['resumeTenant']> {
  const { tenantId, name, tier, createdAt, suspendedAt } = tenant
  return {
    tenant_id: tenantId,
    name,
    tier,
    limits: limitsToWire(limitsOf(tenant)),
    status: suspendedAt === null ? 'active' : 'suspended',
    created_at: iso(createdAt),
    suspended_at: suspendedAt === null ? null : iso(suspendedAt),
  }
}

export function auditToWire(row: AuditRow): Output<GateContract['listAudit']>['audit'][number] {
  const { principal } = row
  return {
    audit_id: row.auditId,
    timestamp: iso(row.at),
    event: row.event,
    severity: row.severity,
    tenant_id: row.tenantId,
    principal: principal && { principal_kind: principal.kind, principal_id: principal.id },
    ip: row.ip,
    user_agent: row.userAgent,
    request_id: row.requestId,
    reason: row.reason,
  }
}
