// The form of API keys.
import { expect, test } from 'vitest'
import { createSeededRandom } from '../../test/seeded-random.ts'
import { systemRandom } from '../ids.ts'
import { makeKey, prefixOf } from './key-text.ts'

test('a key is aga_ and base62, with more than 32 random characters, and begins with what it is looked up by', () => {
  const { text, prefix } = makeKey(systemRandom)
  expect(text).toMatch(/^aga_[0-9A-Za-z]{52}$/)
  expect(text.startsWith(prefix)).toBe(true)
  expect(prefix).toMatch(/^aga_[0-9A-Za-z]{10}$/)
  expect(prefixOf(text)).toBe(prefix)
})

test('every character is random, and no two keys are alike', () => {
  const random = createSeededRandom(1)
  const keys = Array.from({ length: 1_000 }, () => makeKey(random).text)
  expect(new Set(keys).size).toBe(1_000)
  for (let place = 4; place < 50; place += 1)
    expect(new Set(keys.map((key) => key[place])).size).toBeGreaterThan(50)
})

test('any one character changed, left out or added makes it no key', () => {
  const { text } = makeKey(createSeededRandom(2))
  for (let place = 0; place < text.length; place += 1) {
    const [before, after] = [text.slice(0, place), text.slice(place + 1)]
    const other = text[place] === 'x' ? 'y' : 'x'
    expect(prefixOf(`${before}${other}${after}`)).toBeNull()
    expect(prefixOf(`${before}${after}`)).toBeNull()
    expect(prefixOf(`${before}${text[place]}x${after}`)).toBeNull()
  }
  expect(prefixOf('')).toBeNull()
  expect(prefixOf(`${text}\n`)).toBeNull()
})
