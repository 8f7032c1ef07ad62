// Times as text: ISO 8601 in UTC, to the millisecond.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { iso } from './clock.ts'

test.each([
  [0, '1970-01-01T00:00:00.000Z'],
  [-1, '1969-12-31T23:59:59.999Z'],
  [1_700_000_000_007, '2023-11-14T22:13:20.007Z'],
  [1_700_000_000_007.9, '2023-11-14T22:13:20.007Z'],
  [-0.5, '1970-01-01T00:00:00.000Z'],
  [253_402_300_799_999, '9999-12-31T23:59:59.999Z'],
  [253_402_300_800_000, '+010000-01-01T00:00:00.000Z'],
])('%d', (at, text) => {
  expect(iso(at)).toBe(text)
})

test('any time is written as a Date writes it, whichever was written before', () => {
  const at = fc.oneof(
    fc.date({ noInvalidDate: true }).map(Number),
    fc.integer({ min: -200_000, max: 200_000 }),
    fc.double({ min: -1e12, max: 1e13, noNaN: true }),
  )
  fc.assert(
    fc.property(fc.array(at), (times) => {
      expect(times.map(iso)).toEqual(times.map((time) => new Date(time).toISOString()))
    }),
  )
})

test.each([Number.NaN, Infinity, 8.65e15])('%d is no time', (at) => {
  expect(() => iso(at)).toThrow(RangeError)
})
