// One HTTP exchange: an operation's input out, its reply or its error back.
import { type Operation, routeOf } from '../contract/operation.ts'
import { type ErrorCode, GateError, isErrorCode } from '../errors.ts'
import type { Request, Transport } from './transport.ts'

export interface Wire {
  readonly url: string
  readonly apiKey: string | undefined
  readonly transport: Transport
  /** For content, which is streamed. */
  readonly fetch: typeof fetch
}

interface Exchange {
  readonly operation: Operation
  readonly input: Record<string, unknown>
  readonly isRepeatable: boolean
  readonly signal: AbortSignal | undefined
}

export async function reach(exchange: Exchange, wire: Wire): Promise<unknown> {
  const { signal } = exchange
  const request = requestOf(exchange, wire)
  return whileReachable(wire, signal, async () => {
    const { status, text, header } = await wire.transport(request, signal)
    const body = parse(text)
    if (status >= 200 && status < 300 && body !== undefined) return body
    throw errorOf({ status, header }, body, wire.url)
  })
}

export interface ContentRequest {
  readonly path: string
  readonly method: 'PUT' | 'GET'
  readonly body?: Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>
  readonly type?: string
}

/** One exchange of content as it is: the response of a success, its body yet to be read. */
export function askWith(
  { path, method, body, type }: ContentRequest,
  signal: AbortSignal | undefined,
  wire: Wire,
): Promise<Response> {
  const headers = { ...headersOf(wire), ...(type !== undefined && { 'content-type': type }) }
  const streaming = body instanceof ReadableStream ? ({ duplex: 'half' } as const) : {}
  return whileReachable(wire, signal, async () => {
    const request = { method, headers, ...(body && { body }), ...streaming, ...(signal && { signal }) }
    const response = await wire.fetch(`${wire.url}${path}`, request)
    if (response.ok) return response
    const header = (name: string) => response.headers.get(name)
    throw errorOf({ status: response.status, header }, parse(await response.text()), wire.url)
  })
}

async function whileReachable<T>({ url }: Wire, signal: AbortSignal | undefined, exchange: () => Promise<T>) {
  try {
    return await exchange()
  } catch (cause) {
    if (cause instanceof GateError) throw cause
    if (signal?.aborted) throw signal.reason
    throw unreachable(url, cause)
  }
}

/** The path filled in, and every other field in the query. */
export function pathOf(path: string, input: Record<string, unknown>): string {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)
  const rest = Object.entries(input).filter(([name, value]) => !inPath.includes(name) && value !== undefined)
  const query = new URLSearchParams(rest.map(([name, value]) => [name, String(value)])).toString()
  const filled = fillPath(path, input)
  return query === '' ? filled : `${filled}?${query}`
}

function headersOf({ apiKey }: Wire): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (apiKey !== undefined) headers.authorization = `Bearer ${apiKey}`
  return headers
}

function requestOf({ operation, input, isRepeatable }: Exchange, wire: Wire): Request {
  const { method, path, pathFields } = routeOf(operation)
  const headers = headersOf(wire)
  if (method === 'GET') return { path: pathOf(path, input), method, headers, isRepeatable }
  const rest = Object.entries(input).filter(
    ([name, value]) => !pathFields.includes(name) && value !== undefined,
  )
  headers['content-type'] = 'application/json'
  const body = JSON.stringify(Object.fromEntries(rest))
  return { path: fillPath(path, input), method, headers, body, isRepeatable }
}

function fillPath(path: string, input: Record<string, unknown>): string {
  return path.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = input[name]
    if (typeof value === 'string' && value !== '') return encodeURIComponent(value)
    throw new GateError('invalid_input', `Field "${name}" is required.`, { field: name })
  })
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined // not ours: said so by errorOf
  }
}

interface Head {
  readonly status: number
  header(name: 'retry-after' | 'location'): string | null
}

function errorOf(
  { status, header }: Head,
  body: Record<string, unknown> | undefined,
  url: string,
): GateError {
  const waits = retryAfterOf(header('retry-after'))
  const { error, message, retryable: _known, ...details } = body ?? {}
  if (typeof error === 'string' && isErrorCode(error))
    return new GateError(error, String(message), { ...waits, ...details })
  const said = `${url} answered ${status}, not in AsyncGate's words.`
  // Whoever points elsewhere will go on doing so.
  const code = CODES_BY_STATUS[status] ?? (status >= 300 && status < 400 ? 'not_found' : 'internal_error')
  const location = header('location')
  const fix =
    location === null
      ? "Check that the URL is AsyncGate's own."
      : `It points to ${location}: is that the URL?`
  return new GateError(code, `${said} ${fix}`, { ...waits, http_status: status })
}

/** What proxies in front of a server say. */
const CODES_BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  413: 'payload_too_large',
  429: 'rate_limit_exceeded',
  502: 'database_unavailable',
  503: 'database_unavailable',
  504: 'database_unavailable',
}

function retryAfterOf(seconds: string | null): { retry_after?: number } {
  return seconds !== null && /^\d{1,9}$/.test(seconds) ? { retry_after: Number(seconds) } : {}
}

function unreachable(url: string, cause: unknown): GateError {
  const message = `No answer from ${url} (${reasonOf(cause)}). Check that the server runs and that the URL is right.`
  return new GateError('server_unreachable', message, {}, { cause })
}

/** fetch hides the reason in a cause, and a name with several addresses has a reason for each. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0])
  return cause.cause instanceof Error ? reasonOf(cause.cause) : cause.message
}
