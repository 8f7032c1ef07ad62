// The JSON Schema of a type: from what an administrator wrote to a check of payloads. What it costs is bounded at every
// step: the size of the schema, the time to compile it, the time to check with it.
import { GateError } from '@asyncgate/sdk'
import type { ErrorObject, Options, ValidateFunction } from 'ajv'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { JsonObject } from '../engine/model.ts'
import { problemIn } from './pattern.ts'
import { isDoneWithin } from './watchdog.ts'

const SCHEMA_BYTES_MAX = 65_536
const COMPILE_MS_MAX = 500
const TEXT_LENGTH_MAX = 500

export interface PayloadSchema {
  readonly validate: ValidateFunction
  /** How many members it has: what it can ask of one value, where nothing in it can be slow. */
  readonly size: number
  /** Patterns, formats, references and the like can take far longer than their size tells. */
  readonly canBeSlow: boolean
}

const DIALECTS = {
  'https://json-schema.org/draft/2020-12/schema': Ajv2020,
  'http://json-schema.org/draft-07/schema': Ajv,
} as const

/** A misspelt keyword would check nothing, so it is refused; what is only a matter of style is not. */
const OPTIONS: Options = {
  strict: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  ownProperties: true,
  inlineRefs: false,
  logger: false,
}

/** Throws `invalid_input`, saying what is wrong with it. */
export function compileSchema(schema: JsonObject): PayloadSchema {
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  if (bytes > SCHEMA_BYTES_MAX)
    throw refusal(`it has ${bytes} bytes of JSON, the limit is ${SCHEMA_BYTES_MAX}`)
  const traits: Traits = { size: 0, canBeSlow: false, patterns: [] }
  survey(schema, traits)
  const problem = problemIn(traits.patterns)
  if (problem !== null) throw refusal(problem)
  const Dialect = dialectOf(schema)
  judge(schema, Dialect)
  let validate: ValidateFunction | undefined
  const isDone = isDoneWithin(COMPILE_MS_MAX, () => {
    validate = compile(schema, Dialect)
    // Code is made when it is first run, and a schema that refers to itself for ever shows on any value.
    tryOut(validate)
  })
  if (!isDone || validate === undefined) throw refusal('it takes too long to compile; make it simpler')
  return { validate, size: traits.size, canBeSlow: traits.canBeSlow }
}

/**
 * Not watched: the one who judges is there for all, and ended half-way might be of no more use. It takes no longer than the
 * size of the schema tells.
 */
function judge(schema: JsonObject, Dialect: Dialect): void {
  const ajv = judgeOf(Dialect)
  if (ajv.validateSchema(schema) !== true) throw refusal(metaText(ajv.errors?.[0]))
}

function compile(schema: JsonObject, Dialect: Dialect): ValidateFunction {
  // An instance of its own: whatever the schema calls itself, no other schema can refer to it.
  const own = new Dialect({ ...OPTIONS, meta: false, validateSchema: false })
  formats.default(own)
  if (own.getKeyword('$anchor') === false) own.addKeyword('$anchor')
  try {
    return own.compile(schema)
  } catch (error) {
    throw refusal(error instanceof Error ? error.message : String(error))
  }
}

function tryOut(validate: ValidateFunction): void {
  try {
    validate({})
  } catch (error) {
    if (error instanceof RangeError) throw refusal('it refers to itself without end')
    throw error
  }
}

type Dialect = (typeof DIALECTS)[keyof typeof DIALECTS]

function dialectOf({ $schema: named }: JsonObject): Dialect {
  if (named === undefined) return Ajv2020
  const name = typeof named === 'string' ? named.replace(/#$/, '') : ''
  if (Object.hasOwn(DIALECTS, name)) return DIALECTS[name as keyof typeof DIALECTS]
  throw refusal(`$schema must be one of ${Object.keys(DIALECTS).join(', ')}`)
}

/** Made when the first schema comes: compiling a meta-schema takes 30 ms. */
const judges = new Map<Dialect, Ajv>()

function judgeOf(Dialect: Dialect): Ajv {
  let ajv = judges.get(Dialect)
  if (ajv === undefined) {
    ajv = new Dialect({ ...OPTIONS, strict: false })
    formats.default(ajv)
    judges.set(Dialect, ajv)
  }
  return ajv
}

function metaText(error: ErrorObject | undefined): string {
  return `${error?.instancePath || 'it'} ${error?.message ?? 'is not a JSON Schema'}`
}

interface Traits {
  size: number
  canBeSlow: boolean
  readonly patterns: string[]
}

const REFERENCES = new Set(['$ref', '$dynamicRef', '$recursiveRef'])

const SLOW = new Set([
  ...['pattern', 'patternProperties', 'format', 'uniqueItems', 'unevaluatedProperties', 'unevaluatedItems'],
  ...REFERENCES,
])

/** Over all members, whichever position they are in: what looks like a keyword is taken for one. */
function survey(value: unknown, traits: Traits): void {
  traits.size += 1
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    if (SLOW.has(key)) traits.canBeSlow = true
    if (key === '$async') throw refusal('$async is not JSON Schema')
    if (REFERENCES.has(key)) assertWithin(key, member)
    if (key === 'pattern' && typeof member === 'string') traits.patterns.push(member)
    if (key === 'patternProperties') traits.patterns.push(...Object.keys(Object(member)))
    survey(member, traits)
  }
}

function assertWithin(key: string, ref: unknown): void {
  if (typeof ref !== 'string' || ref.startsWith('#')) return
  throw refusal(
    `${key} "${ref.slice(0, 100).toWellFormed()}" leads out of it; refer to its own parts with "#/$defs/…"`,
  )
}

function refusal(what: string): GateError {
  const message = `Field "params_schema" is not a usable JSON Schema: ${what.slice(0, TEXT_LENGTH_MAX).toWellFormed()}.`
  return new GateError('invalid_input', message, {
    field: 'params_schema',
    issues: [{ field: 'params_schema', message }],
  })
}
