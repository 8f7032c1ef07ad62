// The limits and defaults that decisions are made with: the part of the configuration that the engine sees, held to what the
// tenant may have.

export interface Policy {
  readonly lease: {
    readonly defaultTtlSeconds: number
    readonly minTtlSeconds: number
    readonly maxTtlSeconds: number
    readonly requeueJitterSeconds: number
    /** 0 = no cap. */
    readonly maxRenewals: number
    /** 0 = no cap. */
    readonly maxLifetimeSeconds: number
  }
  readonly retry: {
    readonly maxAttempts: number
    readonly backoffSeconds: number
    readonly backoffCapSeconds: number
    readonly maxExpiries: number
  }
  readonly task: {
    readonly maxPayloadBytes: number
    /** Tasks of one tenant that have not ended; 0 = no limit. */
    readonly maxActive: number
  }
  readonly receipts: {
    readonly maxBodyBytes: number
    readonly maxParents: number
    readonly maxArtifacts: number
    readonly locatability: 'lenient' | 'strict'
  }
  readonly claim: {
    readonly maxTasks: number
    /** Active leases of one tenant at one time; 0 = no limit. */
    readonly maxConcurrentLeases: number
  }
}

/** Anomalies: the fourth lost lease of a task, the eleventh renewal of a lease, a day without a locatable result. */
export const EXPIRIES_BEFORE_ANOMALY = 3
export const RENEWALS_BEFORE_ANOMALY = 10
export const UNLINKABLE_AFTER_MS = 24 * 60 * 60 * 1_000
