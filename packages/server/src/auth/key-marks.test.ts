// No text but the key itself has its mark.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSeededRandom } from '../../test/seeded-random.ts'
import { createKeyMarks } from './key-marks.ts'
import { KEY_LENGTH, makeKey } from './key-text.ts'

const markOf = createKeyMarks(createSeededRandom(5))
const { text: key } = makeKey(createSeededRandom(6))

const ascii = fc.integer({ min: 0, max: 127 }).map((code) => String.fromCharCode(code))
const textOf = (length: number) =>
  fc.array(ascii, { minLength: length, maxLength: length }).map((characters) => characters.join(''))

test('a text has one mark in a process, and another in the next', () => {
  expect(markOf(key)).toBe(markOf(`${key.slice(0, 9)}${key.slice(9)}`))
  expect(createKeyMarks(createSeededRandom(7))(key)).not.toBe(markOf(key))
})

test('different texts have different marks', () => {
  fc.assert(
    fc.property(textOf(KEY_LENGTH), textOf(KEY_LENGTH), (one, other) => {
      fc.pre(one !== other)
      expect(markOf(one)).not.toBe(markOf(other))
    }),
  )
})

test('so does every text next to a key: a character changed, neighbours swapped, one up and its neighbour down', () => {
  const near = new Set([key])
  const replace = (at: number, ...codes: number[]) =>
    near.add(key.slice(0, at) + String.fromCharCode(...codes) + key.slice(at + codes.length))
  for (let at = 0; at < KEY_LENGTH; at += 1) {
    const [code, next] = [key.charCodeAt(at), key.charCodeAt(at + 1)]
    replace(at, code + 1)
    if (at + 1 === KEY_LENGTH) continue
    replace(at, next, code)
    for (let step = 1; step <= next; step *= 2) replace(at, code + 1, next - step)
    for (let step = 1; step < 128 - next; step *= 2) replace(at, code - 1, next + step)
  }
  const marks = new Set(Array.from(near, markOf))
  expect(near.size).toBeGreaterThan(3 * KEY_LENGTH)
  expect(marks.size).toBe(near.size)
  expect(marks).not.toContain(null)
})

test('the greatest sums are exact: the least change of the last character shows', () => {
  const greatest = createKeyMarks({ below: (bound) => bound - 1 })
  const last = '\x7f'.repeat(KEY_LENGTH)
  const marks = ['\x7f', '\x7e', '\x7d'].map((end) => greatest(last.slice(1) + end))
  expect(new Set(marks).size).toBe(3)
})

test.each([
  ['nothing', ''],
  ['a key with more to it', `${key} `],
  ['a key without its end', key.slice(0, -1)],
  // Read as a pair these two characters would come to the same as those in their place.
  [
    'a character beyond ASCII',
    String.fromCharCode(key.charCodeAt(0) - 1, key.charCodeAt(1) + 128) + key.slice(2),
  ],
  ['a character of two bytes', `Ā${key.slice(1)}`],
])('%s has no mark', (_what, text) => {
  expect(markOf(text)).toBeNull()
})
