// RFC 8785: its own vectors, and what must hold for every value.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from './canonical-json.ts'

// The words below stand for bits, as in appendix B of the RFC.
const double = (hex: string) => Buffer.from(hex, 'hex').readDoubleBE()

describe('numbers (RFC 8785, appendix B)', () => {
  test.each([
    [0, '0'],
    [-0, '0'],
    [0.1, '0.1'],
    [4.5, '4.5'],
    [2e-3, '0.002'],
    [1e-6, '0.000001'],
    [1e-7, '1e-7'],
    [1e-27, '1e-27'],
    [1e20, '100000000000000000000'],
    [1e21, '1e+21'],
    [1e30, '1e+30'],
    [333333333.3333333, '333333333.3333333'],
    [double('0000000000000001'), '5e-324'],
    [double('8000000000000001'), '-5e-324'],
    [double('7fefffffffffffff'), '1.7976931348623157e+308'],
    [double('ffefffffffffffff'), '-1.7976931348623157e+308'],
    [double('4340000000000000'), '9007199254740992'],
    [double('c340000000000000'), '-9007199254740992'],
    [double('4430000000000000'), '295147905179352830000'],
    [double('44b52d02c7e14af5'), '9.999999999999997e+22'],
    [double('44b52d02c7e14af6'), '1e+23'],
    [double('444b1ae4d6e2ef4e'), '999999999999999700000'],
    [double('444b1ae4d6e2ef50'), '1e+21'],
    [double('3eb0c6f7a0b5ed8c'), '9.999999999999997e-7'],
    [double('3eb0c6f7a0b5ed8d'), '0.000001'],
    [double('41b3de4355555554'), '333333333.33333325'],
    [double('becbf647612f3696'), '-0.0000033333333333333333'],
  ])('%d', (number, text) => {
    expect(canonicalJson(number)).toBe(text)
  })
})

describe('text and literals', () => {
  test.each([
    ['null', null, 'null'],
    ['true', true, 'true'],
    ['nothing at all', undefined, 'null'],
    ['an empty string', '', '""'],
    ['what must be escaped', '€$\u000f\nA\'B"\\\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'],
    ['short escapes', '\b\t\n\f\r', '"\\b\\t\\n\\f\\r"'],
    ['other control characters, in lower case', '\u0000\u001f\u001b', '"\\u0000\\u001f\\u001b"'],
    ['what need not be escaped', '\u007f\u2028\u2029/<>😀', '"\u007f\u2028\u2029/<>😀"'],
  ])('%s', (_what, value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })
})

/** `a00` to `a29`, written down backwards. */
function manyKeys(count: number) {
  const keys = Array.from({ length: count }, (_, index) => `a${String(index).padStart(2, '0')}`)
  return {
    reverse: Object.fromEntries(keys.toReversed().map((key) => [key, 1])),
    text: `{${keys.map((key) => `"${key}":1`).join(',')}}`,
  }
}

describe('objects and lists', () => {
  test.each([
    ['an empty object', {}, '{}'],
    ['an empty list', [], '[]'],
    ['keys in order', { b: 1, a: 2, '': 3, A: 4, aa: 5 }, '{"":3,"A":4,"a":2,"aa":5,"b":1}'],
    ['numeric keys as text', { 10: 1, 9: 2, 1: 3 }, '{"1":3,"10":1,"9":2}'],
    ['a list in its own order', [3, 'b', null, 1], '[3,"b",null,1]'],
    [
      'numeric keys further down',
      { a: [{ b: { 10: 1, 9: [{}], z: null } }] },
      '{"a":[{"b":{"10":1,"9":[{}],"z":null}}]}',
    ],
    ['numeric keys beside a list with holes', { 2: [1, undefined, 2], 10: undefined }, '{"2":[1,null,2]}'],
    [
      'a key that is no member',
      JSON.parse('{"b":1,"__proto__":{"d":1,"c":2}}'),
      '{"__proto__":{"c":2,"d":1},"b":1}',
    ],
    ['more keys than are sorted by hand', manyKeys(30).reverse, manyKeys(30).text],
    ['members that are not there', { a: undefined, b: null }, '{"b":null}'],
    ['holes in a list', [1, undefined, 2], '[1,null,2]'],
    ['nesting', { z: [{ y: 1, x: { w: [], v: {} } }], a: {} }, '{"a":{},"z":[{"x":{"v":{},"w":[]},"y":1}]}'],
    [
      'keys by UTF-16 code units (RFC 8785, 3.2.3)',
      { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '😀': 5, '\u0080': 6, '\u00f6': 7 },
      '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"😀":5,"\ufb33":3}',
    ],
  ])('%s', (_what, value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })
})

/** The same value, every object written down backwards. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reversed(member)]),
  )
}

/** The rule as the RFC states it, one member after the other. */
function asStated(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(asStated).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${asStated(member)}`).join(',')}}`
}

test.each([new Date(0), Object(5)])('%o is written alike wherever it stands', (odd) => {
  expect(canonicalJson({ a: odd, b: 1 })).toBe(canonicalJson({ b: 1, a: odd }))
})

test('any value is written as the RFC states it, whatever its keys', () => {
  const key = fc.oneof(
    fc.string(),
    fc.nat({ max: 120 }).map(String),
    fc.constantFrom('__proto__', '', '-1', '01'),
  )
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue({ maxDepth: 0 }),
      fc.array(tie('tree')),
      fc.dictionary(key, tie('tree')),
    ),
  }))
  fc.assert(
    fc.property(tree, (value) => {
      expect(canonicalJson(value)).toBe(asStated(value))
    }),
    { numRuns: 300 },
  )
})

test('the order of keys never matters, and nothing is lost', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value)
      expect(canonicalJson(reversed(value))).toBe(text)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})
