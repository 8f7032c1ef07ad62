// Lengths of time, times relative to now, and text that fits.
import { expect, test } from 'vitest'
import { duration, relativeTime, truncate, wrap } from './text.ts'

test.each([
  [0, '0s'],
  [59.4, '59s'],
  [90, '1m 30s'],
  [3_600, '1h'],
  [90_061, '1d 1h'],
])('%s seconds are %s', (seconds, text) => {
  expect(duration(seconds)).toBe(text)
})

test.each([
  ['1970-01-01T00:01:00Z', 'now'],
  ['1970-01-01T00:00:00Z', '1m ago'],
  ['1970-01-01T00:01:20Z', 'in 20s'],
  ['1970-01-03T00:01:00Z', 'in 2d'],
  ['not a time', 'not a time'],
])('%s is %s', (iso, text) => {
  expect(relativeTime(iso, 60_000)).toBe(text)
})

test('truncation counts characters, not code units', () => {
  expect(truncate('😀😀😀', 3)).toBe('😀😀😀')
  expect(truncate('😀😀😀😀', 3)).toBe('😀😀…')
})

test('text is wrapped at spaces', () => {
  expect(wrap('one two three', { width: 7, indent: '  ' })).toBe('one two\n  three')
})
