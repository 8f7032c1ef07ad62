// What each tenant may have, as this process knows it: read once, then again every half minute in the background, so that a
// call waits for it only when the tenant has been silent. A change is heeded everywhere within a minute.
import type { Tier } from '@asyncgate/sdk'
import { createLatest } from '../auth/latest.ts'
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

interface Known {
  plan: Plan
  readAt: number
  reading: Promise<Plan> | null
}

export interface TenantPlansParts {
  readonly store: Pick<TenantStore, 'readTenant'>
  readonly policy: Policy
  readonly clock: Pick<Clock, 'now'>
  readonly onError: (error: unknown) => void
}

export function createTenantPlans({ store, policy, clock, onError }: TenantPlansParts): TenantPlans {
  const known = createLatest<Known>(TENANTS_MAX)
  const first = new Map<string, Promise<Plan>>()
  const unlimited: Plan = { tier: 'enterprise', limits: UNLIMITED, policy }

  async function read(tenantId: string): Promise<Plan> {
    const readAt = clock.now()
    const tenant = await store.readTenant(tenantId)
    const limits = tenant === null ? UNLIMITED : limitsOf(tenant)
    const isUnlimited = Object.values(limits).every((limit) => limit === 0)
    const plan =
      tenant === null || (isUnlimited && tenant.tier === 'enterprise')
        ? unlimited
        : { tier: tenant.tier, limits, policy: policyWithin(policy, limits) }
    known.set(tenantId, { plan, readAt, reading: null })
    return plan
  }

  function readFirst(tenantId: string): Promise<Plan> {
    let reading = first.get(tenantId)
    if (reading === undefined) {
      reading = read(tenantId).finally(() => first.delete(tenantId))
      first.set(tenantId, reading)
    }
    return reading
  }

  /** Without its database a tenant keeps what it had. */
  function readAgain(tenantId: string, last: Known): Promise<Plan> {
    last.reading ??= read(tenantId)
      .catch((error: unknown) => {
        onError(error)
        return last.plan
      })
      .finally(() => (last.reading = null))
    return last.reading
  }

  return {
    planOf: (tenantId) => {
      const last = known.get(tenantId)
      if (last === undefined) return readFirst(tenantId)
      const ageMs = clock.now() - last.readAt
      if (ageMs < FRESH_MS) return last.plan
      const reading = readAgain(tenantId, last)
      return ageMs < TRUST_MS ? last.plan : reading
    },
    forget: (tenantId) => known.delete(tenantId),
  }
}
