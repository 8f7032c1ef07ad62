// From bytes to JSON: what is refused before anything is built from it.
import { expect, test } from 'vitest'
import { readJson } from './read-json.ts'

const read = (text: string) => readJson(Buffer.from(text))

test('an empty body is no value', () => {
  expect(readJson(Buffer.alloc(0))).toBeUndefined()
})

test('brackets and escapes inside strings do not count as nesting', () => {
  const value = { a: `${'['.repeat(500)}"\\`, b: '\\"{' }
  expect(read(JSON.stringify(value))).toEqual(value)
})

test('32 MiB of brackets are refused at once', () => {
  const started = performance.now()
  expect(() => readJson(Buffer.alloc(32 * 1_048_576, '['))).toThrow(/levels deep/)
  expect(performance.now() - started).toBeLessThan(1_000)
})

test.each([['{"a":'], ['{a:1}'], ['nul'], ['{"a":1}}'], ['\ufeff{}']])('%j is refused as JSON', (text) => {
  expect(() => read(text)).toThrow(
    expect.objectContaining({ code: 'invalid_input', message: expect.stringMatching(/not valid JSON/) }),
  )
})

test('more members and lists than any batch has are refused before they are parsed', () => {
  const object = (count: number) => `{${Array.from({ length: count }, (_, at) => `"${at}":":[{"`).join(',')}}`
  expect(Object.keys(read(object(499_999)) as object)).toHaveLength(499_999)
  const list = (count: number) => `[${Array.from({ length: count }, () => '{}').join(',')}]`
  expect(read(list(499_999))).toHaveLength(499_999)
  for (const text of [object(500_000), list(500_000)])
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'payload_too_large' }))
})

test('bytes that are not UTF-8 are refused, not replaced', () => {
  expect(() => readJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow(/UTF-8/)
})

test.each([
  ['{"id": 12345678901234567890}', 'id'],
  ['{"ids": [-9007199254740993]}', '0'],
])('a whole number that a double would change is refused: %s', (text, field) => {
  expect(() => readJson(Buffer.from(text))).toThrow(`Field "${field}" is not valid`)
})

test.each([
  [
    '{"a": 9007199254740991, "text": "12345678901234567890"}',
    { a: 9007199254740991, text: '12345678901234567890' },
  ],
  [
    '[6.02214076e23, 0.1234567890123456789, 12345678901234567000]',
    [6.02214076e23, 0.12345678901234568, 12345678901234567000],
  ],
])('numbers that keep their value are taken: %s', (text, value) => {
  expect(readJson(Buffer.from(text))).toEqual(value)
})
