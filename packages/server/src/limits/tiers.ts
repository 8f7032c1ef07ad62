// What the tenants of each tier may have (LIM-1, LIM-2), and what one tenant may have that was given figures of its own.
import type { Tier } from '@asyncgate/sdk'
import type { Policy } from '../engine/policy.ts'
import type { Limits, Tenant } from '../store/tenants.ts'

const GB = 1_000_000_000

export const UNLIMITED: Limits = {
  callsPerHour: 0,
  principalCallsPerHour: 0,
  tasksPerHour: 0,
  activeTasks: 0,
  concurrentLeases: 0,
  payloadBytes: 0,
  receiptBytes: 0,
}

const TIER_LIMITS: Readonly<Record<Tier, Limits>> = {
  free: {
    ...UNLIMITED,
    callsPerHour: 1_000,
    tasksPerHour: 100,
    activeTasks: 1_000,
    concurrentLeases: 10,
    receiptBytes: GB,
  },
  paid: {
    ...UNLIMITED,
    callsPerHour: 100_000,
    tasksPerHour: 10_000,
    activeTasks: 100_000,
    concurrentLeases: 100,
    receiptBytes: 10 * GB,
  },
  enterprise: UNLIMITED,
}

export function limitsOf({ tier, limits }: Pick<Tenant, 'tier' | 'limits'>): Limits {
  return { ...TIER_LIMITS[tier], ...limits }
}

/** The server's own policy, held to what the tenant may have. */
export function policyWithin(policy: Policy, limits: Limits): Policy {
  const { task, claim } = policy
  return {
    ...policy,
    task: {
      maxPayloadBytes: stricter(task.maxPayloadBytes, limits.payloadBytes),
      maxActive: stricter(task.maxActive, limits.activeTasks),
    },
    claim: {
      ...claim,
      maxConcurrentLeases: stricter(claim.maxConcurrentLeases, limits.concurrentLeases),
    },
  }
}

/** 0 is no limit at all. */
export function stricter(one: number, other: number): number {
  if (one === 0 || other === 0) return one + other
  return Math.min(one, other)
}
