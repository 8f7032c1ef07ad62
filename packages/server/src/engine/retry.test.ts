// How long a task waits after a failure, and after a lost lease.
import { expect, test } from 'vitest'
import { createSeededRandom } from '../../test/seeded-random.ts'
import { expiryJitterMs, retryDelayMs } from './retry.ts'

const after = (attempt: number, of: { backoff?: number; cap?: number; asked?: number } = {}) =>
  retryDelayMs({
    attempt,
    backoffSeconds: of.backoff ?? 30,
    capSeconds: of.cap ?? 900,
    retryAfterSeconds: of.asked ?? null,
  }) / 1_000

test.each([
  [1, 30],
  [2, 60],
  [3, 120],
  [4, 240],
  [5, 480],
  [6, 900],
  [7, 900],
  [1_000, 900],
])('failure %i with a backoff of 30 s waits %i s', (attempt, seconds) => {
  expect(after(attempt)).toBe(seconds)
})

test('a backoff above the cap is cut to it at once', () => {
  expect(after(1, { backoff: 901 })).toBe(900)
})

test('a backoff of nothing stays nothing, however often it doubles', () => {
  expect(after(1_000, { backoff: 0 })).toBe(0)
})

test.each([
  ['stands instead of the backoff', 7, 7],
  ['may be nothing', 0, 0],
  ['may be the cap', 900, 900],
  ['is cut to the cap', 901, 900],
])('what the worker asks for %s', (_claim, asked, seconds) => {
  expect(after(5, { asked })).toBe(seconds)
})

test('the jitter of a lost lease covers 0 to 5 s, both ends included', () => {
  const lowest = expiryJitterMs(5, { below: () => 0 })
  const highest = expiryJitterMs(5, { below: (bound) => bound - 1 })
  expect([lowest, highest]).toEqual([0, 5_000])
})

test('the jitter spreads over its range', () => {
  const random = createSeededRandom(1)
  const waits = Array.from({ length: 1_000 }, () => expiryJitterMs(5, random))
  expect(Math.min(...waits)).toBeLessThan(100)
  expect(Math.max(...waits)).toBeGreaterThan(4_900)
  expect(waits.every((wait) => Number.isInteger(wait) && wait >= 0 && wait <= 5_000)).toBe(true)
})

test('without jitter a lost task comes back at once', () => {
  expect(expiryJitterMs(0, createSeededRandom(1))).toBe(0)
})
