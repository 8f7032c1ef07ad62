// What schemas are accepted, and that no schema and no payload can hold the server up.
import { GateError } from '@asyncgate/sdk'
import { expect, test } from 'vitest'
import { checkPayloads } from './check.ts'
import { compileSchema } from './schema.ts'

const verdictOn = (schema: object, payload: object) => {
  const compiled = compileSchema(schema as never)
  const [refusal] = checkPayloads([
    { type: 't', payload: payload as never, bytes: JSON.stringify(payload).length, schema: compiled },
  ])
  return refusal === null || refusal === undefined ? 'fits' : refusal.details
}

const refusalOf = (schema: object) => {
  try {
    compileSchema(schema as never)
    return 'accepted'
  } catch (error) {
    return error instanceof GateError ? error.message : error
  }
}

test.each([
  ['2020-12 by default', { prefixItems: [{ type: 'string' }], type: 'array' }],
  [
    '2020-12 by name',
    { $schema: 'https://json-schema.org/draft/2020-12/schema', dependentRequired: { a: ['b'] } },
  ],
  ['07 by name', { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] }],
  ['parts of its own', { $defs: { a: { type: 'string' } }, properties: { a: { $ref: '#/$defs/a' } } }],
  ['anchors', { $defs: { a: { $anchor: 'here' } }, $ref: '#here' }],
  ['a list of words', { properties: { slug: { pattern: '^[a-z]+(-[a-z]+)*$' } } }],
  ['formats', { properties: { at: { format: 'date-time' }, to: { format: 'email' } } }],
])('accepted: %s', (_what, schema) => {
  expect(refusalOf(schema)).toBe('accepted')
})

test.each([
  ['another draft', { $schema: 'http://json-schema.org/draft-04/schema#' }, '$schema must be one of'],
  ['another place', { $ref: 'https://example.org/a.json' }, 'leads out of it'],
  ['a file', { allOf: [{ $ref: 'file:///etc/passwd' }] }, 'leads out of it'],
  ['what is checked later', { $async: true }, '$async'],
  ['a misspelt keyword', { propertys: {} }, 'unknown keyword: "propertys"'],
  ['an unknown format', { format: 'colour' }, 'colour'],
  ['a runaway pattern', { properties: { a: { pattern: '^(\\w+\\s?)*$' } } }, 'takes for ever'],
  ['a runaway name', { patternProperties: { '(a|a)*$': {} } }, 'takes for ever'],
  ['where data would be', { properties: { const: { pattern: '(x+x+)+y' } } }, 'takes for ever'],
  ['a long pattern', { pattern: 'a'.repeat(501) }, 'longer than 500'],
  ['a broken pattern', { pattern: '[' }, 'not a regular expression'],
  ['itself for ever', { $ref: '#' }, 'without end'],
  ['a long name', { ['x'.repeat(60_000)]: 1 }, 'unknown keyword'],
  ['a large one', { description: 'a'.repeat(65_536) }, 'the limit is 65536'],
])('refused: %s', (_what, schema, says) => {
  expect(refusalOf(schema)).toContain(says)
})

test('one schema cannot refer to another, whatever they call themselves', () => {
  expect(refusalOf({ $id: 'urn:example:secret', type: 'object' })).toBe('accepted')
  expect(refusalOf({ $id: 'urn:example:secret', type: 'array' })).toBe('accepted')
  expect(refusalOf({ $ref: 'urn:example:secret' })).toContain('leads out of it')
  expect(refusalOf({ $id: 'http://json-schema.org/draft-07/schema#', type: 'object' })).toBe('accepted')
})

test('members that every object inherits are no members of a payload', () => {
  const schema = { required: ['constructor'] }
  expect(verdictOn(schema, {})).toMatchObject({ path: '/constructor', rule: 'required' })
  expect(verdictOn(schema, { constructor: 1 })).toBe('fits')
})

test('a path names the member, and never grows with the payload', () => {
  const schema = { properties: { list: { items: { enum: ['a', 'b'] } } }, additionalProperties: false }
  expect(verdictOn(schema, { list: ['a', 'c'] })).toMatchObject({ path: '/list/1', rule: 'enum' })
  const { path } = verdictOn(schema, { ['x'.repeat(100_000)]: 1 }) as { path: string }
  expect(path.length).toBeLessThan(400)
})

test.each([
  [
    'a recursion that branches',
    {
      $defs: {
        a: {
          allOf: [{ properties: { x: { $ref: '#/$defs/a' } } }, { properties: { x: { $ref: '#/$defs/a' } } }],
        },
      },
      $ref: '#/$defs/a',
    },
    Array.from({ length: 60 }).reduce((inner: object) => ({ x: inner }), {}),
  ],
  [
    'a pattern that is slow on long texts',
    { properties: { a: { pattern: '^.*x.*y.*z$' } } },
    { a: 'xy'.repeat(30_000) },
  ],
  [
    'many items that must differ',
    { properties: { a: { uniqueItems: true } } },
    { a: Array.from({ length: 60_000 }, (_, index) => [index]) },
  ],
])('ended in time: %s', (_what, schema, payload) => {
  expect(verdictOn(schema, payload)).toMatchObject({ rule: 'time' })
})

test('a schema that refers to itself for ever on some payloads refuses those', () => {
  const schema = { dependentSchemas: { a: { $ref: '#' } } }
  expect(verdictOn(schema, {})).toBe('fits')
  expect(verdictOn(schema, { a: 1 })).toMatchObject({ rule: 'time' })
})

test('a refusal never grows with the schema', () => {
  expect(String(refusalOf({ ['x'.repeat(60_000)]: 1 })).length).toBeLessThan(1_000)
})

test('of many payloads those before the slow one keep their verdict', () => {
  const schema = compileSchema({ properties: { a: { pattern: '^.*x.*y.*z$' } } })
  const check = (a: string) => ({ type: 't', payload: { a }, bytes: a.length, schema })
  const verdicts = checkPayloads([check('xyz'), check('no'), check('xy'.repeat(30_000)), check('xyz')])
  expect(verdicts.map((refusal) => refusal?.details['rule'] ?? 'fits')).toEqual([
    'fits',
    'pattern',
    'time',
    'time',
  ])
})

test('a schema of the largest size is compiled or refused in time', () => {
  const branches = Array.from({ length: 1_300 }, (_, index) => ({
    properties: { [`p${index}`]: { type: 'null' } },
  }))
  expect(['accepted', expect.stringContaining('too long')]).toContainEqual(refusalOf({ anyOf: branches }))
})
