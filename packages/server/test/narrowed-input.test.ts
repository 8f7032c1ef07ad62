// Inputs are parsed by as much of their schema as they need (narrowed.ts of the contract): what comes of it, or the refusal, is that
// of the whole schema.
import { contract, invalidInput, jsonSchema, NewTask, parseInput } from '@asyncgate/sdk'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { inputOf } from './schema-values.ts'

const SCHEMAS: Record<string, z.ZodObject> = {
  NewTask, // in a list of them each is parsed by itself
  ...Object.fromEntries(Object.entries(contract).map(([key, { input }]) => [key, input])),
}

const ANYTHING = z.unknown()

/** What is not is refused before any schema. */
function isClean(value: unknown): boolean {
  return 'text' in outcomeOf(() => [parseInput(ANYTHING, value)])
}

function expectAlike(schema: z.ZodObject, value: unknown): void {
  expect(outcomeOf(() => parseInput(schema, value))).toEqual(outcomeOf(() => wholly(schema, value)))
}

/** The value as text, since the order of members counts, too; or the error. */
function outcomeOf(parse: () => unknown): object {
  try {
    return { text: JSON.stringify(parse()) }
  } catch (error) {
    return error as object
  }
}

function wholly(schema: z.ZodObject, value: unknown): unknown {
  const result = schema.safeParse(value, { reportInput: true })
  if (!result.success) throw invalidInput(result.error)
  return result.data
}

test.each(Object.entries(SCHEMAS))('%s says of an input what its whole schema says', (_key, schema) => {
  const inputs = inputOf(jsonSchema(schema), {})
    .map((value) => JSON.parse(JSON.stringify(value)) as unknown)
    .filter(isClean)
  const alike = fc.property(inputs, (value) => expectAlike(schema, value))
  fc.assert(alike, { numRuns: 150 })
})

test('members may come in any order, be undefined, or be inherited', () => {
  const inputs: object[] = [
    { summary: 'a', type: 't', priority: 1 },
    { priority: 1, summary: 'a', type: 't' },
    { type: 't', summary: undefined },
    { type: 't', metadata: undefined, priority: undefined },
    Object.create({ type: 't', summary: 'inherited' }) as object,
    Object.assign(Object.create({ priority: 'high' }) as object, { type: 't' }),
    Object.assign(Object.create(null) as object, { type: 't', priority: 1 }),
    { priority: 1 },
    { type: 't', unknown: 1, summary: 2 },
    [],
  ]
  for (const input of inputs) expectAlike(NewTask, input)
})

test('however many sets of members there were, the next one is parsed', () => {
  const names = Object.keys(NewTask.shape).filter((name) => name !== 'type')
  for (const first of names) {
    for (const second of names) {
      expectAlike(NewTask, { type: 't', [first]: undefined, [second]: undefined })
    }
  }
})

const note = z.string().optional()

test.each<[string, z.ZodObject]>([
  ['fills a member in', z.strictObject({ note: z.string().default('none').optional() })],
  ['checks a member that is not there', z.strictObject({ note: note.refine((text) => text !== undefined) })],
  ['checks the whole', z.strictObject({ note }).refine((whole) => 'note' in whole)],
  ['takes what it does not know', z.looseObject({ note })],
  ['leaves out what it does not know', z.object({ note })],
  ['says what else there may be', z.object({ note }).catchall(z.int())],
])('a schema that %s', (_what, schema) => {
  for (const input of [{}, { note: 'a' }, { note: 1 }, { other: 1 }, { other: 'b' }])
    expectAlike(schema, input)
})
