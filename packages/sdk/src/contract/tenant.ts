// Operations of operators: the tenants of a server. They see nothing inside of one.
import { z } from 'zod'
import { NAME_LENGTH_MAX, NamedPrincipal, page, timestamp } from './fields.ts'
import { keyExpiry, keyName, NewKey } from './key.ts'
import { operation } from './operation.ts'

const TENANT_ID = /^[a-z0-9][a-z0-9_-]{0,62}$/
const tenantId = {
  tenant_id: z
    .string()
    .regex(TENANT_ID, 'it must be 1 to 63 lower-case letters, digits, dashes and underscores')
    .describe('The tenant: 1 to 63 lower-case letters, digits, dashes and underscores.'),
}

export const TIERS = ['free', 'paid', 'enterprise'] as const
export type Tier = (typeof TIERS)[number]

const tier = z
  .enum(TIERS)
  .describe('What the tenant may have: free and paid have figures of their own, enterprise has no limits.')
const LIMIT_MAX = 1_000_000_000_000
const limit = (about: string) =>
  z.int().min(0).max(LIMIT_MAX).optional().describe(`${about} Default that of the tier; 0 = unlimited.`)

/** Each replaces the figure of the tier. */
const limits = {
  calls_per_hour: limit('Calls of all of its principals.'),
  principal_calls_per_hour: limit('Calls of one principal.'),
  tasks_per_hour: limit('Tasks created.'),
  active_tasks: limit('Tasks that have not ended.'),
  concurrent_leases: limit('Leases at one time.'),
  payload_bytes: limit('Payload of one task, as JSON.'),
  receipt_bytes: limit('Bodies of its receipts, as JSON.'),
}

/** What is in force; 0 = unlimited. */
export const LimitsInForce = z.object({
  calls_per_hour: z.number(),
  principal_calls_per_hour: z.number(),
  tasks_per_hour: z.number(),
  active_tasks: z.number(),
  concurrent_leases: z.number(),
  payload_bytes: z.number(),
  receipt_bytes: z.number(),
})

const Tenant = z.object({
  tenant_id: z.string(),
  name: z.string().nullable(),
  tier: z.enum(TIERS),
  limits: LimitsInForce,
  status: z.enum(['active', 'suspended']),
  created_at: timestamp,
  suspended_at: timestamp.nullable(),
})

export const tenantOperations = {
  createTenant: operation({
    summary: 'Add a tenant.',
    guide:
      'Use it once per customer or team; then make its first key with create_tenant_key. ' +
      'Repeating the call returns the tenant as it is.',
    route: 'POST /v1/admin/tenants',
    scopes: [],
    role: 'operator',
    effect: 'idempotent',
    listed: 'admin',
    errors: [],
    status: 201,
    input: z.strictObject({
      ...tenantId,
      name: z.string().min(1).max(NAME_LENGTH_MAX).optional().describe('What people call it.'),
      tier: tier.default('enterprise'),
    }),
    output: Tenant.extend({ is_duplicate: z.boolean() }),
  }),
  listTenants: operation({
    summary: 'List the tenants, in the order of their ids.',
    guide: 'Use it to see which tenants there are and which are suspended.',
    route: 'GET /v1/admin/tenants',
    scopes: [],
    role: 'operator',
    effect: 'read',
    listed: 'admin',
    errors: [],
    input: z.strictObject({ ...page }),
    output: z.object({ tenants: z.array(Tenant), next_cursor: z.string().nullable() }),
  }),
  limitTenant: operation({
    summary: 'Say what a tenant may have.',
    guide:
      'Use it when a tenant changes its plan, or needs other figures than those of its tier. It replaces what was said ' +
      'before; every server heeds it within a minute. What the tenant has already stays.',
    route: 'POST /v1/admin/tenants/{tenant_id}/limits',
    scopes: [],
    role: 'operator',
    effect: 'idempotent',
    listed: 'admin',
    errors: ['not_found'],
    input: z.strictObject({ ...tenantId, tier, ...limits }),
    output: Tenant,
  }),
  suspendTenant: operation({
    summary: 'Refuse all calls of a tenant.',
    guide:
      'Use it when a tenant must stop at once. Every server refuses its keys within a minute; nothing is deleted, and ' +
      'resume_tenant undoes it. The default tenant is the one of the operators themselves and stays.',
    route: 'POST /v1/admin/tenants/{tenant_id}/suspend',
    scopes: [],
    role: 'operator',
    effect: 'destructive',
    listed: 'admin',
    errors: ['not_found', 'invalid_transition'],
    input: z.strictObject(tenantId),
    output: Tenant,
  }),
  resumeTenant: operation({
    summary: 'Let a suspended tenant call again.',
    guide: 'Use it to undo suspend_tenant. Its keys work again within a minute.',
    route: 'POST /v1/admin/tenants/{tenant_id}/resume',
    scopes: [],
    role: 'operator',
    effect: 'idempotent',
    listed: 'admin',
    errors: ['not_found'],
    input: z.strictObject(tenantId),
    output: Tenant,
  }),
  createTenantKey: operation({
    summary: "Make a key for an administrator of a tenant, who then makes the tenant's other keys.",
    guide:
      'Use it once after create_tenant, or when a tenant has lost its last key. The reply shows the key once.',
    route: 'POST /v1/admin/tenants/{tenant_id}/keys',
    scopes: [],
    role: 'operator',
    effect: 'write',
    listed: 'admin',
    errors: ['not_found'],
    status: 201,
    input: z.strictObject({
      ...tenantId,
      principal: NamedPrincipal.describe('Who calls with it.'),
      name: keyName,
      expires_at: keyExpiry,
    }),
    output: NewKey,
  }),
}
