// A REST call's one input, from its path, its query (GET) or its body (POST). Nothing is silently ignored.
import { GateError, jsonSchema, type Operation, routeOf } from '@asyncgate/sdk'
import type { FastifyRequest } from 'fastify'

export type InputReader = (request: FastifyRequest) => Record<string, unknown>

export function createInputReader(
  operation: Operation,
  place: 'query' | 'body' = routeOf(operation).method === 'GET' ? 'query' : 'body',
): InputReader {
  let types: ReadonlyMap<string, string> | undefined // made with the first call: it is slow for a start
  return (request) => {
    const path = request.params as Record<string, string> // the router fills it with the named parts of the path
    const query = readQuery(request.url)
    if (place === 'query') return withPath(path, coerce(query, (types ??= fieldTypes(operation))))
    const [stray] = Object.keys(query)
    if (stray !== undefined)
      throw invalid(stray, `Field "${stray}" belongs in the body: POST takes no query.`)
    return withPath(path, readBody(request.body))
  }
}

/** `limit=5` is text on the wire; what does not read as its type stays text, so that parsing refuses it. */
function coerce(query: Record<string, string>, types: ReadonlyMap<string, string>): Record<string, unknown> {
  const entries = Object.entries(query).map(([name, text]) => [name, valueOf(text, types.get(name))] as const)
  return Object.fromEntries(entries)
}

function valueOf(text: string, type: string | undefined): unknown {
  if (type === 'integer' && /^-?\d+$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

function fieldTypes(operation: Operation): ReadonlyMap<string, string> {
  const properties = (jsonSchema(operation.input).properties ?? {}) as Record<string, { type?: string }>
  return new Map(Object.entries(properties).map(([name, { type = 'any' }]) => [name, type]))
}

function readQuery(url: string): Record<string, string> {
  const start = url.indexOf('?')
  if (start === -1) return {}
  const pairs = [...new URLSearchParams(url.slice(start + 1))]
  const query = Object.fromEntries(pairs)
  if (Object.keys(query).length === pairs.length) return query
  const names = pairs.map(([name]) => name)
  const twice = names.find((name, at) => names.indexOf(name) !== at) ?? ''
  throw invalid(twice, `Field "${twice}" is given twice. Give it once.`)
}

function readBody(body: unknown): Record<string, unknown> {
  if (body === undefined) return {}
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return body as Record<string, unknown>
  throw invalid('', 'The body must be a JSON object.')
}

function withPath(path: Record<string, string>, rest: Record<string, unknown>): Record<string, unknown> {
  for (const name of Object.keys(path)) {
    if (Object.hasOwn(rest, name))
      throw invalid(name, `Field "${name}" is in the path already. Leave it out here.`)
  }
  return { ...rest, ...path }
}

function invalid(field: string, message: string): GateError {
  return new GateError('invalid_input', message, { field, issues: [{ field, message }] })
}
