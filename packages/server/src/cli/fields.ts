// Options made from the contract: a field of an operation is the option of the same name, with the contract's
// own words for help. What is added to the contract is at once an option.
import { actingAs, jsonSchema, type Operation } from '@asyncgate/sdk'
import type { Option, Options } from './command.ts'

interface FieldSchema {
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly string[]
  readonly items?: { readonly type?: string }
  readonly description?: string
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, FieldSchema>>
  readonly required?: readonly string[]
}

/** All fields but who one acts as (that is --as), those named, and those that the command offers otherwise. */
export function fieldsOf(
  operation: Operation,
  { except = [] }: { except?: readonly string[] } = {},
): Options {
  const { properties = {}, required = [] } = jsonSchema(operation.input) as ObjectSchema
  const left = Object.entries(properties).filter(([name]) => !(name in actingAs) && !except.includes(name))
  return Object.fromEntries(
    left.map(([name, schema]) => {
      const option = optionOf(name, schema)
      return [name.replaceAll('_', '-'), required.includes(name) ? { ...option, required: true } : option]
    }),
  )
}

function optionOf(name: string, schema: FieldSchema): Option {
  const about = schema.description ?? ''
  if (schema.enum) return { kind: 'text', about, choices: schema.enum }
  if (schema.type === 'boolean') return { kind: 'switch', about }
  if (schema.type === 'integer')
    return { kind: 'whole', about, shows: name.endsWith('_seconds') ? '<seconds>' : '<number>' }
  if (schema.type === 'array' && schema.items?.type === 'string') return { kind: 'list', about }
  if (schema.type === 'string') return { kind: 'text', about, shows: placeholderOf(schema.format) }
  return { kind: 'json', about }
}

function placeholderOf(format: string | undefined): string {
  return { uuid: '<id>', 'date-time': '<time>' }[format ?? ''] ?? '<text>'
}
