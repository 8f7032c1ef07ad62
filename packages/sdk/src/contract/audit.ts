// The audit log of a tenant, for its administrators.
import { z } from 'zod'
import { field, page, PrincipalRef, timestamp } from './fields.ts'
import { operation } from './operation.ts'

export const AUDIT_EVENTS = [
  'authentication.failed',
  'authorization.failed',
  'cross_tenant.attempted',
  'key.created',
  'key.rotated',
  'key.revoked',
  'rate_limit.exceeded',
  'quota.exceeded',
  'account.created',
  'account.password_set',
  'account.disabled',
  'account.enabled',
  'client.registered',
  'client.revoked',
  'login.succeeded',
  'login.failed',
  'consent.given',
  'consent.denied',
  'authorization.refused',
  'token.issued',
  'token.refused',
  'token.reused',
  'grant.revoked',
  'signing_key.rotated',
  'tenant.created',
  'tenant.limited',
  'tenant.suspended',
  'tenant.resumed',
  'type.changed',
  'type.deleted',
  'audit.incomplete',
] as const
export type AuditEvent = (typeof AUDIT_EVENTS)[number]

export const AUDIT_SEVERITIES = ['info', 'warning', 'critical'] as const
export type AuditSeverity = (typeof AUDIT_SEVERITIES)[number]

const AuditRow = z.object({
  audit_id: z.uuid(),
  timestamp,
  event: z.enum(AUDIT_EVENTS),
  severity: z.enum(AUDIT_SEVERITIES),
  tenant_id: z.string(),
  principal: PrincipalRef.nullable().describe('Who it was; null where that is not known.'),
  ip: z.string().nullable(),
  user_agent: z.string().nullable(),
  request_id: z.string(),
  reason: z.string(),
})

export const auditOperations = {
  listAudit: operation({
    summary: 'List security-relevant acts of your tenant, newest first.',
    guide:
      'Use it to see who was refused and why, who made or ended keys, and who signed in with what. Rows are kept for 90 days and hold no secrets. ' +
      'Credentials that belong to nobody, and attempts on other tenants, are in the log of the default tenant.',
    route: 'GET /v1/admin/audit',
    scopes: ['admin:read', 'admin:write'],
    effect: 'read',
    listed: 'admin',
    errors: [],
    input: z.strictObject({
      event: z.enum(AUDIT_EVENTS).optional().describe('Only rows of this event.'),
      severity: z.enum(AUDIT_SEVERITIES).optional().describe('Only rows of this severity.'),
      since: field.instant('Only rows at or after this time.').optional(),
      ...page,
    }),
    output: z.object({ audit: z.array(AuditRow), next_cursor: z.string().nullable() }),
  }),
}
