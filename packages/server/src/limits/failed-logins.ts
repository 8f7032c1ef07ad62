// Whoever guesses at keys is slowed down, by the address that the guesses come from: beyond so many wrong ones in a minute the
// answer is 429, and its credentials are checked one after the other, so that the others keep their share of Argon2. A right
// credential is let in all the same: it may come by the same proxy as the guesses.
import type { GateError } from '@asyncgate/sdk'
import { createLatest } from '../auth/latest.ts'
import { createLine, type Line } from '../auth/line.ts'
import type { Clock } from '../clock.ts'
import { createLocalBuckets } from './local-buckets.ts'
import { RateLimited } from './limiter.ts'

export interface FailedLogins {
  /** At once, or in its turn where the address is slowed down. */
  check<T>(address: string, check: () => T | Promise<T>): T | Promise<T>
  /** Counts a wrong credential; what to answer it with. */
  refusal(address: string, error: GateError): GateError
  sweep(): Promise<void>
}

const MINUTE_MS = 60_000
/** Of one address that is slowed down. */
const WAITING_MAX = 10
const ADDRESSES_MAX = 10_000

export interface FailedLoginsParts {
  /** Of one address; 0 = no limit. */
  readonly perMinute: number
  readonly clock: Pick<Clock, 'now'>
}

export function createFailedLogins({ perMinute, clock }: FailedLoginsParts): FailedLogins {
  if (perMinute === 0) return UNLIMITED
  const buckets = createLocalBuckets(clock)
  const rate = { limit: perMinute, windowMs: MINUTE_MS }
  const slowed = createLatest<{ readonly line: Line; readonly refusal: RateLimited; readonly until: number }>(
    ADDRESSES_MAX,
  )
  let slowedUntil = 0

  return {
    check: (address, check) => {
      // Nearly always, and then nothing is to cost anything.
      if (slowedUntil <= clock.now()) return check()
      const slow = slowed.get(networkOf(address))
      return slow === undefined || slow.until <= clock.now() ? check() : slow.line(check, () => slow.refusal)
    },
    refusal: (address, error) => {
      const network = networkOf(address)
      const bucket = { tenantId: '', name: `address:${network}:failed_logins`, rate }
      const spent = buckets.spend(bucket, 1)
      if (spent.ok) return error
      const refusal = new RateLimited(bucket, spent, 'failed logins')
      const until = clock.now() + spent.retryAfterMs
      const line = slowed.get(network)?.line ?? createLine({ atOnce: 1, waitingMax: WAITING_MAX })
      slowed.set(network, { line, refusal, until })
      slowedUntil = Math.max(slowedUntil, until)
      return refusal
    },
    sweep: buckets.sweep,
  }
}

const UNLIMITED: FailedLogins = {
  check: (_address, check) => check(),
  refusal: (_address, error) => error,
  sweep: async () => {},
}

/** Who has one address of IPv6 has 2^64 of them: they count as one. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const before = groups(head)
  const after = tail === undefined ? [] : groups(tail)
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`
}
