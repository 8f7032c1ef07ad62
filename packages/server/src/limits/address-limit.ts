// How often one address may ask for what nobody needs a credential for: signing in. Each request of it writes or computes
// something, and no tenant is there to be charged for it.
import type { Clock } from '../clock.ts'
import { networkOf } from './failed-logins.ts'
import { RateLimited, type Shown, shownOf } from './limiter.ts'
import { createLocalBuckets } from './local-buckets.ts'

export interface AddressLimit {
  /** One request. Throws `rate_limit_exceeded`. */
  admit(address: string): Shown
  sweep(): Promise<void>
}

const MINUTE_MS = 60_000

export interface AddressLimitParts {
  /** 0 = no limit. */
  readonly perMinute: number
  readonly clock: Pick<Clock, 'now'>
}

export function createAddressLimit({ perMinute, clock }: AddressLimitParts): AddressLimit {
  const buckets = createLocalBuckets(clock)
  const rate = { limit: perMinute, windowMs: MINUTE_MS }
  return {
    admit: (address) => {
      const bucket = { tenantId: '', name: `address:${networkOf(address)}:sign_in`, rate }
      if (perMinute === 0) return { bucket: bucket.name, rate: null }
      const spent = buckets.spend(bucket, 1)
      if (!spent.ok) throw new RateLimited(bucket, spent, 'requests to sign in')
      return shownOf(bucket, spent)
    },
    sweep: buckets.sweep,
  }
}
