// What each tenant may have, as this process knows it: read once, then again every half minute in the background, so that a
// call waits for it only when the tenant has been silent. A change is heeded everywhere within a minute; without its database a
// tenant keeps what it had.
import type { Tier } from '@asyncgate/sdk'
import { createTrusted } from '../auth/trusted.ts'
import type { Clock } from '../clock.ts'
import type { Policy } from '../engine/policy.ts'
import type { Limits, TenantStore } from '../store/tenants.ts'
import { limitsOf, policyWithin, UNLIMITED } from './tiers.ts'

export interface Plan {
  readonly tier: Tier
  readonly limits: Limits
  /** The server's policy, held to the limits. */
  readonly policy: Policy
}

export interface TenantPlans {
  planOf(tenantId: string): Plan | Promise<Plan>
  /** It was changed here: the next call reads it. */
  forget(tenantId: string): void
}

const FRESH_MS = 30_000
const TRUST_MS = 60_000
const TENANTS_MAX = 10_000

export interface TenantPlansParts {
  readonly store: Pick<TenantStore, 'readTenant'>
  readonly policy: Policy
  readonly clock: Pick<Clock, 'now'>
  readonly onError: (error: unknown) => void
}

export function createTenantPlans({ store, policy, clock, onError }: TenantPlansParts): TenantPlans {
  const unlimited: Plan = { tier: 'enterprise', limits: UNLIMITED, policy }

  async function read(tenantId: string): Promise<Plan> {
    const tenant = await store.readTenant(tenantId)
    const limits = tenant === null ? UNLIMITED : limitsOf(tenant)
    const isUnlimited = Object.values(limits).every((limit) => limit === 0)
    if (tenant === null || (isUnlimited && tenant.tier === 'enterprise')) return unlimited
    return { tier: tenant.tier, limits, policy: policyWithin(policy, limits) }
  }

  const plans = createTrusted({
    read,
    trustMs: TRUST_MS,
    again: { afterMs: FRESH_MS, onError },
    sizeMax: TENANTS_MAX,
    clock,
  })
  return { planOf: plans.get, forget: plans.forget }
}
