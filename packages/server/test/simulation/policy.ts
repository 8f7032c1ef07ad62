// Limits small enough to be met within a run.
import type { Policy } from '../../src/engine/policy.ts'
import type { Chance } from './chance.ts'

/** No lease of a run lives longer than this without a renewal. */
export const TTL_SECONDS_MAX = 60

export function simulatedPolicy(chance: Chance): Policy {
  return {
    lease: {
      defaultTtlSeconds: 20,
      minTtlSeconds: 10,
      maxTtlSeconds: TTL_SECONDS_MAX,
      requeueJitterSeconds: 5,
      maxRenewals: chance.percent(25) ? 1 : 0,
      maxLifetimeSeconds: chance.percent(20) ? 90 : 0,
    },
    retry: { maxAttempts: 3, backoffSeconds: 10, backoffCapSeconds: 60, maxExpiries: 20 },
    task: { maxPayloadBytes: 1_048_576, maxActive: 0 },
    receipts: {
      maxBodyBytes: 65_536,
      maxParents: 10,
      maxArtifacts: 100,
      locatability: chance.percent(80) ? 'lenient' : 'strict',
    },
    claim: { maxTasks: 1_000, maxConcurrentLeases: chance.percent(30) ? chance.between(2, 5) : 0 },
  }
}
