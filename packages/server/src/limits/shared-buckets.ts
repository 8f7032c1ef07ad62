// Buckets that all instances share, without a round trip for each call: a process draws a hundredth of the bucket at a time
// into a purse of its own, and draws again in the background before that is empty. Nothing is spent that was not drawn, so
// that all instances together never exceed the rate; what lies unspent in purses (at most two hundredths for each instance,
// and it is given back after some seconds) can come on top of a bucket that has filled up meanwhile, or be missing from it.
//
// When the shared buckets cannot be asked, calls go on: each process then keeps to the whole limit by itself, and asks again
// after a while. A limit that is kept less well for some minutes harms less than a service that is down with its limiter.
import type { Clock } from '../clock.ts'
import { intervalMs, tokensIn, untilTokens } from '../engine/token-bucket.ts'
import type { TokenStore } from '../store/tokens.ts'
import { type Bucket, type Buckets, keyOf, type Spent, storedName } from './buckets.ts'
import { createLocalBuckets } from './local-buckets.ts'

const CHUNKS_PER_BUCKET = 100
/** What a process has not used for so long, others may. */
const IDLE_MS = 10_000
/** After a failure the shared buckets are left alone for so long. */
const PAUSE_MS = 5_000
/** Nobody waits longer than this for leave to call. */
const ANSWER_MS_MAX = 2_000

interface Purse {
  readonly bucket: Bucket
  tokens: number
  /** The shared bucket, as it was left. */
  fullAt: number
  usedAt: number
  /** Empty until then, for all that is known: there is no use in asking. */
  emptyUntil: number
  drawing: Promise<void> | null
}

export interface SharedBucketsParts {
  readonly store: TokenStore
  readonly clock: Clock
  readonly onFailure: (error: unknown) => void
}

export function createSharedBuckets({ store, clock, onFailure }: SharedBucketsParts): Buckets {
  const purses = new Map<string, Purse>()
  const alone = createLocalBuckets(clock)
  let aloneUntil = 0

  function purseOf(bucket: Bucket): Purse {
    const key = keyOf(bucket)
    const known = purses.get(key)
    if (known !== undefined) return known
    const purse = { bucket, tokens: 0, fullAt: 0, usedAt: clock.now(), emptyUntil: 0, drawing: null }
    purses.set(key, purse)
    return purse
  }

  async function ask({ bucket }: Purse, wanted: number) {
    const { tenantId, rate } = bucket
    const asked = store.drawTokens(tenantId, [{ bucket: storedName(bucket), rate, wanted }], clock.now())
    const [drawn] = await within(ANSWER_MS_MAX, asked, clock)
    return drawn!
  }

  async function draw(purse: Purse, wanted: number): Promise<void> {
    try {
      const { granted, fullAt } = await ask(purse, wanted)
      purse.tokens += granted
      purse.fullAt = fullAt
      const now = clock.now()
      if (granted < wanted)
        purse.emptyUntil = now + untilTokens(fullAt, purse.bucket.rate, { now, wanted: 1 })
    } catch (error) {
      if (aloneUntil <= clock.now()) onFailure(error)
      aloneUntil = clock.now() + PAUSE_MS
    } finally {
      purse.drawing = null
    }
  }

  /** One draw of a bucket at a time, however many wait for it. */
  function drawOnce(purse: Purse, wanted: number): Promise<void> {
    purse.drawing ??= draw(purse, wanted)
    return purse.drawing
  }

  function take(purse: Purse, cost: number): Spent {
    const now = clock.now()
    const { bucket, fullAt } = purse
    const { rate } = bucket
    const ok = purse.tokens >= cost
    if (ok) {
      purse.tokens -= cost
      purse.usedAt = now
    }
    const wanted = cost > rate.limit ? cost : Math.max(1, cost - purse.tokens)
    return {
      ok,
      remaining: Math.min(rate.limit, purse.tokens + tokensIn(fullAt, rate, now)),
      fullAt: Math.max(now, fullAt - purse.tokens * intervalMs(rate)),
      retryAfterMs: ok ? 0 : untilTokens(fullAt, rate, { now, wanted }),
    }
  }

  async function drawAndTake(purse: Purse, cost: number, chunk: number): Promise<Spent> {
    // What others drew meanwhile may be spent by those who waited with us: then it is our turn to draw.
    while (purse.tokens < cost && isWorthAsking(purse, cost)) {
      await drawOnce(purse, Math.max(chunk, cost - purse.tokens))
      if (aloneUntil > clock.now()) return alone.spend(purse.bucket, cost)
    }
    return take(purse, cost)
  }

  function isWorthAsking({ bucket, emptyUntil }: Purse, cost: number): boolean {
    return cost <= bucket.rate.limit && emptyUntil <= clock.now()
  }

  function giveBack(purse: Purse): Promise<unknown> {
    const { tokens } = purse
    purse.tokens = 0
    return tokens === 0 ? Promise.resolve() : ask(purse, -tokens).catch(onFailure)
  }

  return {
    spend: (bucket, cost) => {
      const purse = purseOf(bucket)
      const chunk = Math.max(1, Math.ceil(bucket.rate.limit / CHUNKS_PER_BUCKET))
      if (purse.tokens < cost) {
        if (aloneUntil > clock.now()) return alone.spend(bucket, cost)
        return isWorthAsking(purse, cost) ? drawAndTake(purse, cost, chunk) : take(purse, cost)
      }
      const spent = take(purse, cost)
      const isLow = purse.tokens < chunk / 2 && purse.drawing === null
      // In the background: whoever comes next finds the purse filled. `draw` does not reject.
      if (isLow && aloneUntil <= clock.now() && isWorthAsking(purse, chunk)) void drawOnce(purse, chunk)
      return spent
    },
    refund: (bucket, cost) => {
      if (aloneUntil > clock.now()) alone.refund(bucket, cost)
      else purseOf(bucket).tokens += cost
    },
    sweep: async () => {
      const isIdle = ({ usedAt, drawing }: Purse) => drawing === null && clock.now() - usedAt >= IDLE_MS
      const idle = [...purses].filter(([, purse]) => isIdle(purse))
      for (const [key] of idle) purses.delete(key)
      await Promise.all([alone.sweep(), ...idle.map(([, purse]) => giveBack(purse))])
    },
    close: async () => {
      await Promise.all(Array.from(purses.values(), giveBack))
    },
  }
}

function within<T>(ms: number, work: Promise<T>, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(new Error(`no answer within ${ms} ms`)))
    work.finally(cancel).then(resolve, reject)
  })
}
