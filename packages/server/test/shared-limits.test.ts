// Rate limits that several instances share: what they admit together, what it costs, and what an outage does to it. On
// PostgreSQL, and on a Redis where the machine has one.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Draw, draw, type Rate } from '../src/engine/token-bucket.ts'
import type { Buckets } from '../src/limits/buckets.ts'
import { openRedisTokens, type RedisTokens } from '../src/limits/redis-tokens.ts'
import { createSharedBuckets } from '../src/limits/shared-buckets.ts'
import type { TokenStore } from '../src/store/tokens.ts'
import { HAS_REDIS, startRedis, type TestRedis } from './redis.ts'
import { verifies } from './requirements.ts'
import { openTestStore, type OpenedStore } from './stores.ts'
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

const PER_HOUR: Rate = { limit: 1_000, windowMs: 3_600_000 }
const CHUNK = 10
let names = 0

/** Counts how often the shared buckets are asked, and can be made to fail. */
function watched(store: TokenStore) {
  const seen = { draws: 0, isDown: false }
  const tokens: TokenStore = {
    drawTokens: async (tenantId, draws, now) => {
      seen.draws += 1
      if (seen.isDown) throw new Error('it is down')
      return store.drawTokens(tenantId, draws, now)
    },
  }
  return { tokens, seen }
}

interface Instance {
  readonly buckets: Buckets
  readonly seen: { draws: number; isDown: boolean }
  readonly failures: unknown[]
}

function instanceOn(store: TokenStore, clock: VirtualClock): Instance {
  const { tokens, seen } = watched(store)
  const failures: unknown[] = []
  const buckets = createSharedBuckets({ store: tokens, clock, onFailure: (error) => failures.push(error) })
  return { buckets, seen, failures }
}

async function admitted(instances: readonly Instance[], bucket: object, calls: number): Promise<number> {
  let count = 0
  for (let call = 0; call < calls; call += 1) {
    const { buckets } = instances[call % instances.length]!
    if ((await buckets.spend({ tenantId: 't', name: 'b', rate: PER_HOUR, ...bucket }, 1)).ok) count += 1
  }
  return count
}

interface Place {
  stores(): readonly [TokenStore, TokenStore]
  open(): Promise<void>
  close(): Promise<void>
}

function onPostgres(): Place {
  let opened: OpenedStore
  let stores: readonly [TokenStore, TokenStore]
  return {
    open: async () => {
      opened = await openTestStore('postgres')
      stores = [opened.store.tokens!, (await opened.beside()).tokens!]
    },
    stores: () => stores,
    close: () => opened.dispose(),
  }
}

function onRedis(): Place {
  let redis: TestRedis
  let stores: [RedisTokens, RedisTokens]
  return {
    open: async () => {
      if (!HAS_REDIS) return
      redis = await startRedis()
      stores = [await openRedisTokens(redis.url, () => {}), await openRedisTokens(redis.url, () => {})]
    },
    stores: () => stores,
    close: async () => {
      if (!HAS_REDIS) return
      for (const store of stores) await store.close()
      await redis.stop()
    },
  }
}

const PLACES = { postgres: onPostgres(), redis: onRedis() }

describe.each(['postgres', 'redis'] as const)('on %s', (kind) => {
  const place = PLACES[kind]
  const isMissing = kind === 'redis' && !HAS_REDIS
  beforeAll(() => place.open())
  afterAll(() => place.close())

  const proves = (claim: string, prove: (clock: VirtualClock, name: string) => Promise<void>) =>
    verifies('LIM-1', `${claim}, on ${kind}`, async (context) => {
      if (isMissing) context.skip('there is no redis-server on this machine')
      await prove(createVirtualClock(), `b-${(names += 1)}`)
    })

  const two = (clock: VirtualClock) => place.stores().map((store) => instanceOn(store, clock))

  proves('two instances admit together exactly what the bucket holds', async (clock, name) => {
    const instances = two(clock)
    expect(await admitted(instances, { name }, 3_000)).toBe(1_000)
    // One that joins finds nothing left.
    expect(await admitted([instanceOn(place.stores()[0], clock)], { name }, 10)).toBe(0)
  })

  proves('one round trip serves a hundredth of the bucket, and a refusal needs none', async (clock, name) => {
    const [one] = two(clock)
    await admitted([one!], { name }, 1_000)
    expect(one!.seen.draws).toBeLessThanOrEqual(1_000 / CHUNK + 2)
    const before = one!.seen.draws
    expect(await admitted([one!], { name }, 500)).toBe(0)
    expect(one!.seen.draws - before).toBeLessThanOrEqual(1)
  })

  proves('over a day two instances admit the rate, and at most their purses on top', async (clock, name) => {
    const instances = two(clock)
    let total = 0
    for (let hour = 0; hour < 24; hour += 1) {
      total += await admitted(instances, { name }, 1_200)
      await clock.advance(3_600_000)
    }
    expect(total).toBeLessThanOrEqual(1_000 + 23 * 1_000 + 2 * 2 * CHUNK)
    expect(total).toBeGreaterThanOrEqual(24 * 1_000 - 2 * 2 * CHUNK)
  })

  proves('what an idle instance does not use it gives back', async (clock, name) => {
    const [one, other] = two(clock)
    await admitted([one!], { name }, 1)
    const left = await admitted([other!], { name }, 2_000)
    expect(left).toBeGreaterThanOrEqual(1_000 - 1 - 2 * CHUNK)
    expect(left).toBeLessThan(999)
    await clock.advance(10_000)
    await one!.buckets.sweep()
    // 10 s later the bucket has got 2.7 tokens of its own.
    expect(await admitted([other!], { name }, 100)).toBe(1_001 - left)
  })

  proves('a cost of many is spent as a whole or not at all', async (clock, name) => {
    const [one] = two(clock)
    const bucket = { tenantId: 't', name, rate: PER_HOUR }
    expect(await one!.buckets.spend(bucket, 700)).toMatchObject({ ok: true, retryAfterMs: 0 })
    expect(await one!.buckets.spend(bucket, 700)).toMatchObject({ ok: false })
    expect(await one!.buckets.spend(bucket, 290)).toMatchObject({ ok: true })
    expect(await one!.buckets.spend(bucket, 1_001)).toMatchObject({ ok: false, retryAfterMs: Infinity })
  })

  proves('every draw is what the pure function says', async (clock, name) => {
    const [store] = place.stores()
    const draws = fc.array(
      fc.record({ afterMs: fc.integer({ min: 0, max: 60_000 }), wanted: fc.integer({ min: -20, max: 60 }) }),
      { minLength: 1, maxLength: 30 },
    )
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3_000 }), draws, async (limit, wishes) => {
        const rate = { limit, windowMs: 60_000 }
        let expected: Draw = { granted: 0, fullAt: 0 }
        let now = clock.now()
        runs += 1
        for (const { afterMs, wanted } of wishes) {
          now += afterMs
          expected = draw(expected.fullAt, rate, { now, wanted })
          const [drawn] = await store.drawTokens('t', [{ bucket: `${name}-${runs}`, rate, wanted }], now)
          expect(drawn!.granted).toBe(expected.granted)
          expect(Math.abs(drawn!.fullAt - expected.fullAt)).toBeLessThan(0.1)
        }
      }),
      { numRuns: 15 },
    )
  })
})

verifies(
  'LIM-1',
  'without the shared buckets each instance keeps to the whole limit, and asks again later',
  async () => {
    const clock = createVirtualClock()
    const shared = new Map<string, number>()
    const [one, other] = [instanceOn(inMemory(shared), clock), instanceOn(inMemory(shared), clock)]
    one.seen.isDown = other.seen.isDown = true
    expect(await admitted([one, other], {}, 4_000)).toBe(2_000)
    // Told once, not with every call.
    expect([one.failures.length, one.seen.draws]).toEqual([1, 1])
    one.seen.isDown = other.seen.isDown = false
    await clock.advance(5_000)
    expect(await admitted([one, other], {}, 3_000)).toBe(1_000)
  },
)

test('an answer that does not come is not waited for', async () => {
  const clock = createVirtualClock()
  const failures: unknown[] = []
  const silent: TokenStore = { drawTokens: () => new Promise(() => {}) }
  const buckets = createSharedBuckets({ store: silent, clock, onFailure: (error) => failures.push(error) })
  const spent = Promise.resolve(buckets.spend({ tenantId: 't', name: 'b', rate: PER_HOUR }, 1))
  await clock.advance(2_000)
  expect(await spent).toMatchObject({ ok: true, remaining: 999 })
  expect(failures).toEqual([new Error('no answer within 2000 ms')])
})

test('buckets that are full again are forgotten by the database', async () => {
  const opened = await openTestStore('postgres')
  const { tokens } = opened.store
  const now = 1_700_000_000_000
  const drawn = { rate: { limit: 60, windowMs: 60_000 }, wanted: 1 }
  await tokens!.drawTokens(
    't',
    ['a', 'b', 'c'].map((bucket) => ({ bucket, ...drawn })),
    now,
  )
  expect(await tokens!.pruneTokens!(now + 999, 10)).toBe(0)
  expect(await tokens!.pruneTokens!(now + 1_000, 2)).toBe(2)
  expect(await tokens!.pruneTokens!(now + 1_000, 2)).toBe(1)
  await opened.dispose()
})

function inMemory(fullAts: Map<string, number>): TokenStore {
  return {
    drawTokens: async (_tenantId, draws, now) =>
      draws.map(({ bucket, rate, wanted }) => {
        const drawn = draw(fullAts.get(bucket) ?? 0, rate, { now, wanted })
        fullAts.set(bucket, drawn.fullAt)
        return drawn
      }),
  }
}
