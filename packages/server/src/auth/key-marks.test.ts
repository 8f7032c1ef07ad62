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

test('so do texts that differ in any one or two characters', () => {
  fc.assert(
    fc.property(
      fc.nat(KEY_LENGTH - 1),
      fc.nat(KEY_LENGTH - 1),
      fc.tuple(ascii, ascii),
      (one, other, [left, right]) => {
        const characters = key.split('')
        characters[one] = left
        characters[other] = right
        const changed = characters.join('')
        fc.pre(changed !== key)
        expect(markOf(changed)).not.toBe(markOf(key))
      },
    ),
  )
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
