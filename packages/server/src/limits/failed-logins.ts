// Whoever guesses at keys is slowed down, by the address that the guesses come from: beyond so many wrong ones in a minute the
// answer is 429, and its credentials are checked one after the other, so that the others keep their share of Argon2. A right
// credential is let in all the same: it may come by the same proxy as the guesses.
import { GateError } from '@asyncgate/sdk'
import { createLatest } from '../auth/latest.ts'
import { createLine, type Line } from '../auth/line.ts'
import type { Clock } from '../clock.ts'
import { createLocalBuckets } from './local-buckets.ts'
import { RateLimited } from './limiter.ts'

export interface FailedLogins {
  check<T>(address: string, check: () => Promise<T>): Promise<T>
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
  if (perMinute === 0) return { check: (_address, check) => check(), sweep: async () => {} }
  const buckets = createLocalBuckets(clock)
  const rate = { limit: perMinute, windowMs: MINUTE_MS }
  const slowed = createLatest<{ readonly line: Line; readonly refusal: RateLimited; until: number }>(
    ADDRESSES_MAX,
  )
  let slowedUntil = 0

  function fail(network: string, error: unknown): unknown {
    const bucket = { tenantId: '', name: `address:${network}:failed_logins`, rate }
    const spent = buckets.spend(bucket, 1)
    if (spent.ok) return error
    const refusal = new RateLimited(bucket, spent, 'failed logins')
    const until = clock.now() + spent.retryAfterMs
    const line = slowed.get(network)?.line ?? createLine({ atOnce: 1, waitingMax: WAITING_MAX })
    slowed.set(network, { line, refusal, until })
    slowedUntil = Math.max(slowedUntil, until)
    return refusal
  }

  return {
    check: async (address, check) => {
      const isCalm = slowedUntil <= clock.now()
      const network = isCalm ? '' : networkOf(address)
      const slow = isCalm ? undefined : slowed.get(network)
      try {
        return await (slow !== undefined && slow.until > clock.now()
          ? slow.line(check, () => slow.refusal)
          : check())
      } catch (error) {
        const isGuess = error instanceof GateError && error.code === 'unauthenticated'
        throw isGuess ? fail(networkOf(address), error) : error
      }
    },
    sweep: buckets.sweep,
  }
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
