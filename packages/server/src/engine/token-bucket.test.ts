// The token bucket, as a table and against what it promises.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { draw, tokensIn, untilTokens } from './token-bucket.ts'

const PER_HOUR = { limit: 100, windowMs: 3_600_000 }
const T = 1_700_000_000_000

test('a bucket that was never drawn from is full', () => {
  expect(tokensIn(0, PER_HOUR, T)).toBe(100)
})

test('all of it can be had at once, and then one each 36 seconds', () => {
  const { granted, fullAt } = draw(0, PER_HOUR, { now: T, wanted: 100 })
  expect([granted, fullAt]).toEqual([100, T + 3_600_000])
  expect(draw(fullAt, PER_HOUR, { now: T + 35_900, wanted: 1 })).toEqual({ granted: 0, fullAt })
  expect(draw(fullAt, PER_HOUR, { now: T + 36_000, wanted: 1 }).granted).toBe(1)
  expect(untilTokens(fullAt, PER_HOUR, { now: T, wanted: 1 })).toBe(36_000)
  expect(untilTokens(fullAt, PER_HOUR, { now: T, wanted: 2 })).toBe(72_000)
})

test('as many as there are, of what is wanted', () => {
  const { fullAt } = draw(0, PER_HOUR, { now: T, wanted: 98 })
  expect(draw(fullAt, PER_HOUR, { now: T, wanted: 5 }).granted).toBe(2)
})

test('what is given back can be had again, and never more than the bucket holds', () => {
  const { fullAt } = draw(0, PER_HOUR, { now: T, wanted: 100 })
  const back = draw(fullAt, PER_HOUR, { now: T, wanted: -30 })
  expect(tokensIn(back.fullAt, PER_HOUR, T)).toBe(30)
  expect(tokensIn(draw(back.fullAt, PER_HOUR, { now: T, wanted: -500 }).fullAt, PER_HOUR, T)).toBe(100)
})

test('more than it holds never come', () => {
  expect(untilTokens(0, PER_HOUR, { now: T, wanted: 101 })).toBe(Infinity)
})

test('over any stretch of time no more is granted than the bucket holds and gets back, and no less once it is dry', () => {
  const rates = fc.record({
    limit: fc.integer({ min: 1, max: 5_000 }),
    windowMs: fc.constantFrom(60_000, 3_600_000),
  })
  const calls = fc.array(
    fc.record({ afterMs: fc.integer({ min: 0, max: 100_000 }), wanted: fc.integer({ min: 1, max: 50 }) }),
    { maxLength: 200 },
  )
  fc.assert(
    fc.property(rates, calls, (rate, wishes) => {
      let [now, fullAt] = [T, 0]
      const granted: { at: number; count: number }[] = []
      for (const { afterMs, wanted } of wishes) {
        now += afterMs
        const drawn = draw(fullAt, rate, { now, wanted })
        expect(drawn.granted).toBe(Math.min(wanted, tokensIn(fullAt, rate, now)))
        fullAt = drawn.fullAt
        granted.push({ at: now, count: drawn.granted })
      }
      for (const [index, { at }] of granted.entries()) {
        const sum = granted.slice(index).reduce((total, { count }) => total + count, 0)
        const most = rate.limit + ((now - at) * rate.limit) / rate.windowMs
        expect(sum).toBeLessThanOrEqual(Math.floor(most + 0.01))
      }
    }),
  )
})
