// Which values are refused at the door, and how the refusal names their place.
import { describe, expect, test } from 'vitest'
import { GateError } from '../errors.ts'
import { cleanJson, NESTING_MAX } from './clean-json.ts'

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth))

describe('what is refused, and where', () => {
  const refused: [string, unknown, string, RegExp][] = [
    ['NUL in a text', { payload: { a: ['ok', 'b\0c'] } }, 'payload.a.1', /NUL/],
    ['NUL in a key', { payload: { 'a\0': 1 } }, 'payload', /key of it contains a NUL/],
    ['a lone surrogate', { summary: 'half \ud800' }, 'summary', /surrogate/],
    ['a lone surrogate in a key', { payload: { '\udc00': 1 } }, 'payload', /surrogate/],
    ['a number beyond double', JSON.parse('{"payload":{"n":1e999}}'), 'payload.n', /too large/],
    ['__proto__ as a key', JSON.parse('{"payload":{"__proto__":{"x":1}}}'), 'payload', /__proto__/],
    ['__proto__ at the top', JSON.parse('{"__proto__":1}'), '', /__proto__/],
    ['endless nesting', { payload: nested(100_000) }, expect.stringMatching(/^payload\.0\.0/), /100 levels/],
  ]
  test.each(refused)('%s', (_what, input, field, message) => {
    let error: unknown
    try {
      cleanJson(input)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(GateError)
    expect(error).toMatchObject({
      code: 'invalid_input',
      details: { field },
      message: expect.stringMatching(message),
    })
  })
})

test('a list is looked at as it goes: what follows a refusal is not even read', () => {
  const list = ['a\0', 'b']
  Object.defineProperty(list, 1, { get: () => expect.fail('it was read') })
  expect(() => cleanJson(list)).toThrow(/NUL/)
})

describe('what passes', () => {
  const accepted: [string, unknown][] = [
    ['whole characters beyond the BMP', { text: '😀 \u0001 \u2028' }],
    ['keys that only look dangerous', JSON.parse('{"constructor":{"prototype":{}},"toString":1}')],
    ['null, booleans, zero, negative, empty', { a: null, b: true, c: 0, d: -1.5e300, e: '', f: [], g: {} }],
    ['nesting up to the limit', nested(NESTING_MAX)],
    ['a wide array', Array.from({ length: 100_000 }, () => 1)],
  ]
  test.each(accepted)('%s', (_what, input) => {
    expect(() => cleanJson(input)).not.toThrow()
  })
  test('one level more than the limit is refused', () => {
    expect(() => cleanJson(nested(NESTING_MAX + 1))).toThrow(/100 levels/)
  })
})
