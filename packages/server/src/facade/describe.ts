// What the contract says of an operation, in the form that pages and OpenAPI need: its fields by where they
// travel, its errors by status, and a command line to try.
import {
  COMMON_ERRORS,
  contract,
  type ErrorCode,
  type Method,
  type Operation,
  type OperationKey,
  routeOf,
  wireName,
} from '@asyncgate/sdk'
import { EXAMPLES } from './examples.ts'
import { type JsonSchema, schemaOf } from './schema.ts'

export interface Field {
  readonly name: string
  readonly in: 'path' | 'query' | 'body'
  readonly required: boolean
  readonly description: string
  readonly schema: JsonSchema
}

export interface Described {
  readonly key: OperationKey
  readonly name: string
  readonly group: string
  readonly method: Method
  readonly path: string
  readonly operation: Operation
  readonly fields: readonly Field[]
  readonly errors: readonly ErrorCode[]
  readonly example: Readonly<Record<string, unknown>> | undefined
}

/** What the groups of operations are called, by the first part of their paths. */
const GROUPS: Readonly<Record<string, string>> = {
  tasks: 'Tasks',
  leases: 'Leases',
  receipts: 'Receipts and obligations',
  obligations: 'Receipts and obligations',
  bootstrap: 'Receipts and obligations',
  admin: 'Administration',
  workers: 'Administration',
}
const OTHER_GROUP = 'Server'
/** Operations of workers live under /v1/tasks/{task_id}, yet belong with the leases. */
const WORKER_SCOPE = 'tasks:lease'

export function describeOperations(): Described[] {
  return (Object.keys(contract) as OperationKey[]).map(describeOperation)
}

export function describeOperation(key: OperationKey): Described {
  const operation: Operation = contract[key]
  const { method, path } = routeOf(operation)
  return {
    key,
    name: wireName(key),
    group: groupOf(operation, path),
    method,
    path,
    operation,
    fields: fieldsOf(operation),
    errors: [...new Set([...operation.errors, ...COMMON_ERRORS])],
    example: EXAMPLES[key],
  }
}

function groupOf({ scopes }: Operation, path: string): string {
  if (scopes.length === 1 && scopes[0] === WORKER_SCOPE) return 'Leases'
  return GROUPS[path.split('/')[2] ?? ''] ?? OTHER_GROUP
}

function fieldsOf(operation: Operation): Field[] {
  const { method, pathFields } = routeOf(operation)
  const { properties = {}, required = [] } = schemaOf(operation.input, 'input') as {
    properties?: Record<string, JsonSchema>
    required?: string[]
  }
  const fields = Object.entries(properties).map(([name, { description = '', ...schema }]): Field => {
    const place = pathFields.includes(name) ? 'path' : method === 'GET' ? 'query' : 'body'
    return { name, in: place, required: required.includes(name), description: String(description), schema }
  })
  // What must be given comes first; whom to act as, which few need, last.
  const rank = ({ name, required: isRequired }: Field) =>
    isRequired ? 0 : name.startsWith('principal_') ? 2 : 1
  return fields.toSorted((a, b) => rank(a) - rank(b))
}

/** `string`, `integer (0 to 60)`, `queued | leased`, `array of string`: short enough for a table. */
export function typeText(schema: JsonSchema): string {
  if (Array.isArray(schema.enum)) return schema.enum.join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (Array.isArray(schema.anyOf)) return schema.anyOf.map((one: JsonSchema) => typeText(one)).join(' or ')
  if (schema.type === 'array') return `array of ${typeText((schema.items ?? {}) as JsonSchema)}`
  if (schema.format === 'uuid' || schema.format === 'date-time') return schema.format
  const type = typeof schema.type === 'string' ? schema.type : 'any'
  return `${type}${boundsText(schema)}`
}

/** JSON Schema's own keywords: where they stand they are numbers. */
interface Bounds {
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
}

function boundsText({ minimum, maximum, maxLength }: Bounds): string {
  if (maxLength !== undefined) return ` (at most ${maxLength})`
  if (minimum !== undefined && maximum !== undefined) return ` (${minimum} to ${maximum})`
  if (minimum !== undefined) return ` (at least ${minimum})`
  return maximum === undefined ? '' : ` (at most ${maximum})`
}

/** A line that can be pasted into a shell. */
export function curlText(
  { method, path, fields, example = {} }: Described,
  base = 'http://127.0.0.1:8420',
): string {
  const at = (place: Field['in']) => fields.filter((field) => field.in === place && field.name in example)
  const filled = at('path').reduce((url, { name }) => url.replace(`{${name}}`, String(example[name])), path)
  const query = new URLSearchParams(at('query').map(({ name }) => [name, String(example[name])])).toString()
  const url = `${base}${filled}${query ? `?${query}` : ''}`
  const auth = '-H "Authorization: Bearer $ASYNCGATE_API_KEY"'
  if (method === 'GET') return `curl '${url}' \\\n  ${auth}`
  const body = JSON.stringify(Object.fromEntries(at('body').map(({ name }) => [name, example[name]])))
  const data = body.replaceAll("'", String.raw`'\''`)
  return `curl '${url}' \\\n  ${auth} \\\n  -H 'Content-Type: application/json' \\\n  -d '${data}'`
}
