// The limits of one server, put together: plans, buckets (shared where there is something to share them by), failed logins.
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Log } from '../log.ts'
import type { Store } from '../store/port.ts'
import { type AddressLimit, createAddressLimit } from './address-limit.ts'
import type { Buckets } from './buckets.ts'
import { createFailedLogins, type FailedLogins } from './failed-logins.ts'
import { createLimiter, type Limiter } from './limiter.ts'
import { createLocalBuckets } from './local-buckets.ts'
import { openRedisTokens } from './redis-tokens.ts'
import { createSharedBuckets } from './shared-buckets.ts'
import { createTenantPlans, type TenantPlans } from './tenant-plans.ts'

export interface Limiting {
  readonly limiter: Limiter
  readonly plans: TenantPlans
  readonly failedLogins: FailedLogins
  /** Of requests to sign in. */
  readonly signIns: AddressLimit
  /** To be called every `sweepMs`. */
  sweep(): Promise<void>
  readonly sweepMs: number
  close(): Promise<void>
}

/** What was drawn from shared buckets is given back soon; one's own need only be tidied. */
const SHARED_SWEEP_MS = 5_000
const OWN_SWEEP_MS = 60_000

export interface LimitingParts {
  readonly store: Pick<Store, 'readTenant' | 'tokens'>
  readonly clock: Clock
  readonly log: Log
}

export async function openLimits(config: Config, { store, clock, log }: LimitingParts): Promise<Limiting> {
  const { globalCallsPerMinute, principalCallsPerHour, failedLoginsPerMinute, signInRequestsPerMinute } =
    config.limits
  const plans = createTenantPlans({
    store,
    policy: config,
    clock,
    onError: (error) => log.warn({ error }, 'the limits of a tenant could not be read; the last ones hold'),
  })
  const buckets = await openBuckets(config, { store, clock, log })
  const failedLogins = createFailedLogins({ perMinute: failedLoginsPerMinute, clock })
  const signIns = createAddressLimit({ perMinute: signInRequestsPerMinute, clock })
  return {
    limiter: createLimiter({ buckets, plans, globalCallsPerMinute, principalCallsPerHour }),
    plans,
    failedLogins,
    signIns,
    sweepMs: config.limits.redisUrl !== null || store.tokens !== undefined ? SHARED_SWEEP_MS : OWN_SWEEP_MS,
    sweep: async () => {
      await Promise.all([buckets.sweep(), failedLogins.sweep(), signIns.sweep()])
    },
    close: () => buckets.close(),
  }
}

async function openBuckets({ limits }: Config, { store, clock, log }: LimitingParts): Promise<Buckets> {
  const onFailure = (error: unknown) =>
    log.warn({ error }, 'the shared rate limits cannot be reached; this server keeps to them by itself')
  if (limits.redisUrl !== null) {
    const tokens = await openRedisTokens(limits.redisUrl, () => {})
    const shared = createSharedBuckets({ store: tokens, clock, onFailure })
    return {
      ...shared,
      close: async () => {
        await shared.close()
        await tokens.close()
      },
    }
  }
  return store.tokens === undefined
    ? createLocalBuckets(clock)
    : createSharedBuckets({ store: store.tokens, clock, onFailure })
}
