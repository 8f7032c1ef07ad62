// The OpenAPI 3.1 document, from the contract alone.
import {
  canonicalJson,
  contentRouteOf,
  ERRORS,
  type ErrorCode,
  LeasedTask,
  NewTask,
  type Operation,
  Receipt,
  Task,
} from '@asyncgate/sdk'
import { type Described, describeOperations } from './describe.ts'
import { type JsonSchema, schemaOf } from './schema.ts'

const INTRODUCTION =
  'AsyncGate lets an agent (or any program) hand off long work, forget about it, and later prove what became of it. ' +
  'Every operation is also an MCP tool: `create_task` here is `asyncgate_create_task` there. ' +
  'Errors have one body everywhere; `retryable` says whether repeating the call can help.'

export function openApi({ version }: { version: string }): JsonSchema {
  const schemas = sharedSchemas()
  const document = {
    openapi: '3.1.1',
    info: {
      title: 'AsyncGate',
      version,
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: [...new Set(describeOperations().map(({ group }) => group))].map((name) => ({ name })),
    paths: paths(),
  }
  // An object, since the replacer keeps the shape of what it is given.
  const shortened = referShared(document, schemas) as JsonSchema
  const components = { schemas, responses: errorResponses(), securitySchemes: SECURITY_SCHEMES }
  return { ...shortened, components }
}

const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key.' },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'The same key, for clients without bearer.',
  },
}

const ERROR_SCHEMA = {
  type: 'object',
  required: ['error', 'message', 'retryable', 'request_id'],
  properties: {
    error: { type: 'string', enum: Object.keys(ERRORS), description: 'What happened, for programs.' },
    message: { type: 'string', description: 'What to do, for people and models.' },
    retryable: { type: 'boolean', description: 'Whether repeating the call can help.' },
    request_id: { type: 'string', description: 'Also in X-Request-Id and in the server log.' },
  },
  additionalProperties: true,
}

function sharedSchemas(): Record<string, JsonSchema> {
  return {
    Error: ERROR_SCHEMA,
    Task: schemaOf(Task, 'output'),
    NewTask: schemaOf(NewTask, 'input'),
    LeasedTask: schemaOf(LeasedTask, 'output'),
    Receipt: schemaOf(Receipt, 'output'),
  }
}

/** Says each shared schema once: wherever it stands in full, a reference takes its place. */
function referShared(node: unknown, shared: Readonly<Record<string, JsonSchema>>): unknown {
  const names = new Map(Object.entries(shared).map(([name, schema]) => [canonicalJson(schema), name]))
  const refer = (value: unknown): unknown => {
    if (value === null || typeof value !== 'object') return value
    if (Array.isArray(value)) return value.map(refer)
    const name = 'properties' in value ? names.get(canonicalJson(value)) : undefined
    if (name !== undefined) return { $ref: `#/components/schemas/${name}` }
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, refer(member)]))
  }
  return refer(node)
}

function paths(): Record<string, Record<string, unknown>> {
  const all: Record<string, Record<string, unknown>> = {}
  for (const described of describeOperations()) {
    const methods = (all[described.path] ??= {})
    methods[described.method.toLowerCase()] = pathItem(described)
    const content = contentRouteOf(described.operation)
    if (content !== undefined)
      (all[content.path] ??= {})[content.method.toLowerCase()] = contentItem(described)
  }
  return all
}

/** The same operation with its content as it is: what would hold it, or cut it into parts, falls away. */
const WITHOUT_CONTENT = ['content', 'encoding', 'content_type', 'offset', 'max_bytes']
const BYTES = { '*/*': { schema: { type: 'string', format: 'binary' } } }

function contentItem(described: Described): Record<string, unknown> {
  const { name, group, operation, fields } = described
  const isUpload = operation.content === 'in'
  const inQuery = fields
    .filter((field) => !WITHOUT_CONTENT.includes(field.name))
    .map((field) => (field.in === 'path' ? field : { ...field, in: 'query' as const }))
  const { '200': success, ...refusals } = responses(described)
  const given = { description: 'The content.', content: BYTES }
  return {
    operationId: `${name}_content`,
    tags: [group],
    summary: operation.summary,
    description: `As ${name}, with the content itself as the ${isUpload ? 'body' : 'reply'}, of any size.`,
    parameters: parameters({ ...described, fields: inQuery }),
    ...(isUpload && { requestBody: { required: true, content: BYTES } }),
    responses: { '200': isUpload ? success : given, ...refusals },
  }
}

function pathItem(described: Described): Record<string, unknown> {
  const { name, group, operation, method } = described
  return {
    operationId: name,
    tags: [group],
    summary: operation.summary,
    description: `${operation.guide}\n\n${scopeText(operation)}`,
    ...(operation.deprecated && { deprecated: true }),
    parameters: parameters(described),
    ...(method === 'POST' && { requestBody: requestBody(described) }),
    responses: responses(described),
  }
}

export function scopeText({ scopes, role }: Operation): string {
  if (role !== undefined) return `Role: ${role}.`
  return scopes.length === 0 ? 'Scope: any credential.' : `Scope: ${scopes.join(' or ')}.`
}

function parameters({ fields, example = {} }: Described): unknown[] {
  return fields
    .filter((field) => field.in !== 'body')
    .map((field) => ({
      name: field.name,
      in: field.in,
      required: field.in === 'path' || field.required,
      description: field.description,
      schema: field.schema,
      ...(field.name in example && { example: example[field.name] }),
    }))
}

function requestBody({ fields, example }: Described): unknown {
  const inBody = fields.filter((field) => field.in === 'body')
  const required = inBody.filter((field) => field.required).map(({ name }) => name)
  const properties = Object.fromEntries(
    inBody.map(({ name, description, schema }) => [name, description ? { description, ...schema } : schema]),
  )
  const schema = {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
  const shown = example && Object.fromEntries(Object.entries(example).filter(([name]) => name in properties))
  const content = { 'application/json': { schema, ...(shown && { example: shown }) } }
  return { required: required.length > 0, content }
}

function responses(described: Described): Record<string, unknown> {
  const { operation } = described
  const success = {
    description: operation.summary,
    headers: { 'X-Request-Id': { schema: { type: 'string' }, description: 'Id of this request.' } },
    content: { 'application/json': { schema: schemaOf(operation.output, 'output') } },
  }
  const duplicate =
    operation.status === 201 ? { '200': { ...success, description: 'It was there already.' } } : {}
  const refusals = errorsByStatus(described).map(([status, codes]) => [
    String(status),
    { $ref: `#/components/responses/${responseName(codes)}` },
  ])
  return { [String(operation.status ?? 200)]: success, ...duplicate, ...Object.fromEntries(refusals) }
}

function errorsByStatus({ errors }: Described): [number, ErrorCode[]][] {
  return [...Map.groupBy([...errors, 'unsupported_media_type' as const], (code) => ERRORS[code].status)]
}

/** Most operations share most of their refusals: each combination is said once. */
function errorResponses(): Record<string, unknown> {
  const combinations = describeOperations().flatMap((described) =>
    errorsByStatus(described).map(([, codes]) => codes),
  )
  return Object.fromEntries(combinations.map((codes) => [responseName(codes), errorResponse(codes)]))
}

function responseName(codes: readonly ErrorCode[]): string {
  return codes.toSorted().join('.')
}

function errorResponse(codes: readonly ErrorCode[]): unknown {
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  }
}
