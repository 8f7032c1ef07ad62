// Parsing at the edge: input in, parsed value or one clear `invalid_input` out, in our words on every protocol.
import { z } from 'zod'
import { GateError } from '../errors.ts'
import { cleanJson } from './clean-json.ts'
import { issueText } from './issue-text.ts'
import { narrowedTo } from './narrowed.ts'

/** `written`: the item as it came, so that its refusal can name it. */
export type Each<T> = { ok: true; value: T } | { ok: false; error: GateError; written: unknown }

/** More problems than this help nobody. */
const ISSUES_SHOWN_MAX = 5

export function parseInput<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  cleanJson(value, listsOfItems(schema))
  const result = narrowedTo(schema, value).safeParse(value, { reportInput: true })
  if (result.success) return result.data as z.output<S>
  throw invalidInput(result.error)
}

/** Items of a batch that succeed or fail alone: a malformed one becomes an error in its own place. */
const itemSchemas = new WeakMap<z.ZodType, z.ZodType>()

export function each<S extends z.ZodType>(item: S): z.ZodType<Each<z.output<S>>, z.input<S>> {
  const schema = z.unknown().transform((value): Each<z.output<S>> => {
    try {
      return { ok: true, value: parseInput(item, value) }
    } catch (error) {
      if (error instanceof GateError) return { ok: false, error, written: value }
      throw error
    }
  })
  itemSchemas.set(schema, item)
  // zod types the input as unknown; what a caller may write is what the item's own schema takes.
  return schema as unknown as z.ZodType<Each<z.output<S>>, z.input<S>>
}

const listsBySchema = new WeakMap<z.ZodType, ReadonlySet<string>>()

/** The members of an input whose items are parsed one by one, each with its own refusal. */
function listsOfItems(schema: z.ZodType): ReadonlySet<string> {
  let lists = listsBySchema.get(schema)
  if (lists === undefined) {
    const members = schema instanceof z.ZodObject ? Object.entries(schema.shape) : []
    lists = new Set(members.filter(([, member]) => isListOfItems(member)).map(([name]) => name))
    listsBySchema.set(schema, lists)
  }
  return lists
}

function isListOfItems(schema: unknown): boolean {
  if (schema instanceof z.ZodDefault) return isListOfItems(schema.unwrap())
  return schema instanceof z.ZodArray && itemSchemas.has(schema.element as z.ZodType)
}

/** JSON Schema as callers see it (`input`) or receive it (`output`). */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output' = 'input'): Record<string, unknown> {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: target }) => {
      const item = itemSchemas.get(zodSchema as unknown as z.ZodType)
      if (item) Object.assign(target, jsonSchema(item, io))
    },
  })
  return rest
}

export function invalidInput(error: z.ZodError): GateError {
  const issues = error.issues.slice(0, ISSUES_SHOWN_MAX).map(describe)
  return new GateError('invalid_input', issues.map((issue) => issue.message).join(' '), {
    field: issues[0]?.field ?? null,
    issues,
  })
}

function describe(issue: z.core.$ZodIssue): { field: string; message: string } {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    const field = [...path, issue.keys[0]].join('.')
    return { field, message: `Unknown field "${field}": remove it or check its spelling.` }
  }
  const field = path.join('.')
  return { field, message: `${field === '' ? 'The input' : `Field "${field}"`} ${issueText(issue)}.` }
}
