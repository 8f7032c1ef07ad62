// Buckets in this process alone: where there is one (SQLite, memory), and where others cannot be asked.
import type { Clock } from '../clock.ts'
import { draw, tokensIn, untilTokens } from '../engine/token-bucket.ts'
import { type Bucket, type Buckets, keyOf, type Spent } from './buckets.ts'

export interface LocalBuckets extends Buckets {
  spend(bucket: Bucket, cost: number): Spent
}

export function createLocalBuckets(clock: Pick<Clock, 'now'>): LocalBuckets {
  const fullAts = new Map<string, number>()
  return {
    spend: (bucket, cost) => {
      const key = keyOf(bucket)
      const now = clock.now()
      const before = fullAts.get(key) ?? 0
      const ok = tokensIn(before, bucket.rate, now) >= cost
      const fullAt = ok ? draw(before, bucket.rate, { now, wanted: cost }).fullAt : before
      if (ok) fullAts.set(key, fullAt)
      return {
        ok,
        remaining: tokensIn(fullAt, bucket.rate, now),
        fullAt: Math.max(fullAt, now),
        retryAfterMs: ok ? 0 : untilTokens(fullAt, bucket.rate, { now, wanted: cost }),
      }
    },
    refund: (bucket, cost) => {
      const key = keyOf(bucket)
      const before = fullAts.get(key) ?? 0
      fullAts.set(key, draw(before, bucket.rate, { now: clock.now(), wanted: -cost }).fullAt)
    },
    // A full bucket is like one that was never drawn from.
    sweep: async () => {
      for (const [key, fullAt] of fullAts) if (fullAt <= clock.now()) fullAts.delete(key)
    },
    close: async () => {},
  }
}
