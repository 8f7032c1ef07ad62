// Values for a JSON Schema: mostly what it asks for, with a nasty surprise here and there.
import fc from 'fast-check'

type Schema = Readonly<Record<string, unknown>>
/** Values that mean something to the server, by the name of the field that takes them. */
export type Known = Readonly<Record<string, readonly string[]>>

const DEEP = Array.from({ length: 120 }).reduce<unknown>((inner) => [inner], 0)

/** Each of these has broken some server. `1e999` is written as a number by whoever writes the text. */
const SURPRISES: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -0,
    -1,
    1.5,
    2_147_483_648,
    -2_147_483_649,
    2 ** 53,
    1e21,
    1e308,
    5e-324,
    '1e999',
  ],
  ...[
    '',
    ' ',
    '0',
    'null',
    'a'.repeat(501),
    'ä'.repeat(201),
    '😀',
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\udfff\ud800',
  ],
  ...[
    "' or 1=1 --",
    '"; drop table tasks; --',
    '%',
    '_',
    '\\',
    '../../etc/passwd',
    '${x}',
    '{{x}}',
    '\u202e',
    '\ufeff',
  ],
  ...[
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-23:59',
    '2026-13-01T00:00:00Z',
    '1e3',
    'constructor',
    '__proto__',
  ],
  ...[[], {}, [null], [[]], { a: undefined }, { constructor: 1 }, { toString: null, length: -1 }, DEEP],
]

const DATES = fc
  .date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z') })
  .map((at) => at.toISOString())

const surprise = fc.constantFrom(...SURPRISES)

/** An input as the schema wants it; more often with one thing wrong in it; now and then wrong altogether. */
export function inputOf(schema: Schema, known: Known): fc.Arbitrary<Record<string, unknown>> {
  const plain = valueOf(schema, known, '') as fc.Arbitrary<Record<string, unknown>>
  const spoiled = fc.tuple(plain, fc.nat(), surprise).map(([input, at, value]) => spoil(input, at, value))
  const extended = fc
    .tuple(plain, fc.string(), surprise)
    .map(([input, name, value]) => ({ ...input, [name]: value }))
  return fc.oneof(
    { weight: 4, arbitrary: plain },
    { weight: 6, arbitrary: spoiled },
    { weight: 1, arbitrary: extended },
    { weight: 1, arbitrary: fc.dictionary(fc.constantFrom(...namesIn(schema)), surprise) },
  )
}

function namesIn({ properties = {} }: { properties?: unknown }): string[] {
  return [...Object.keys(properties as object), 'unknown']
}

/** Puts the value in one of the places of the input, however deep. */
function spoil(input: Record<string, unknown>, at: number, value: unknown): Record<string, unknown> {
  const copy = structuredClone(input)
  const places: { in: Record<string, unknown>; key: string }[] = []
  const open: unknown[] = [copy]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const key of Object.keys(node as object)) {
      places.push({ in: node as Record<string, unknown>, key })
      const member = (node as Record<string, unknown>)[key]
      if (typeof member === 'object' && member !== null) open.push(member)
    }
  }
  const place = places[at % Math.max(places.length, 1)]
  if (place !== undefined) place.in[place.key] = value
  return copy
}

function valueOf(schema: Schema, known: Known, name: string): fc.Arbitrary<unknown> {
  const choices = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined
  if (choices !== undefined) return fc.oneof(...choices.map((choice) => valueOf(choice, known, name)))
  if ('const' in schema) return fc.constant(schema.const)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]))
  if (schema.type === 'object') return objectOf(schema, known)
  if (schema.type === 'array') return fc.array(valueOf(schema.items as Schema, known, name), { maxLength: 4 })
  if (schema.type === 'integer' || schema.type === 'number') return integerOf(schema)
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'string') return stringOf(schema, known, name)
  return fc.jsonValue({ maxDepth: 3 })
}

function objectOf(schema: Schema, known: Known): fc.Arbitrary<unknown> {
  const properties = (schema.properties ?? {}) as Record<string, Schema>
  if (Object.keys(properties).length === 0) return fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }))
  const members = Object.entries(properties).map(([name, member]) => [name, valueOf(member, known, name)])
  const required = (schema.required ?? []) as string[]
  return fc.record(Object.fromEntries(members) as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: required as never[],
  })
}

/** Near the lower bound, where most bounds mean something, or at a bound. */
function integerOf({ minimum = -1_000, maximum = 1_000 }: Schema): fc.Arbitrary<unknown> {
  const [low, high] = [Math.max(Number(minimum), -1e9), Math.min(Number(maximum), 1e9)]
  return fc.oneof(fc.integer({ min: low, max: Math.min(high, low + 5) }), fc.constantFrom(low, high))
}

function stringOf(schema: Schema, known: Known, name: string): fc.Arbitrary<unknown> {
  const values =
    known[name] ?? known[name.replace(/^(parent|caused_by|since)_/, '').replace(/_receipt_id$/, 'receipt_id')]
  if (schema.format === 'uuid') {
    const real = values ? [{ weight: 4, arbitrary: fc.constantFrom(...values) }] : []
    return fc.oneof({ weight: 1, arbitrary: fc.uuid() }, ...real)
  }
  if (schema.format === 'date-time') return DATES
  if (name === 'receipt_type')
    return fc.constantFrom('x.note', 'schedule.created', 'schedule.deleted', 'task.failed')
  if (values) return fc.constantFrom(...values)
  return fc.string({ unit: 'grapheme', minLength: Number(schema.minLength ?? 0), maxLength: 20 })
}
