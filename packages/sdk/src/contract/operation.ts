// What an operation is: one definition as data, from which come the REST route, the MCP tool, the OpenAPI
// entry, the client's method and the permission.
import type { z } from 'zod'
import type { ErrorCode } from '../errors.ts'

export const SCOPES = [
  'tasks:read',
  'tasks:write',
  'tasks:lease',
  'receipts:read',
  'receipts:ack',
  'receipts:write',
  'admin:read',
  'admin:write',
] as const
export type Scope = (typeof SCOPES)[number]

export const ROLES = ['agent', 'worker', 'service', 'admin', 'operator'] as const
export type Role = (typeof ROLES)[number]

export type Method = 'GET' | 'POST'

/**
 * - `read`: changes nothing.
 * - `write`: adds or changes; `idempotent` when the same call again changes nothing more.
 * - `destructive`: ends something that was under way.
 */
export type Effect = 'read' | 'write' | 'idempotent' | 'destructive'

/** Errors that any operation may answer; an operation's own list names only what is particular to it. */
export const COMMON_ERRORS = [
  'invalid_input',
  'unauthenticated',
  'forbidden',
  'payload_too_large',
  'rate_limit_exceeded',
  'internal_error',
  'database_unavailable',
] as const satisfies readonly ErrorCode[]

export interface Operation<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> {
  /** One line: what it does. */
  readonly summary: string
  /** For a reader who decides whether to call it: when, what comes next, how long things are kept. */
  readonly guide: string
  readonly route: `${Method} /${string}`
  /** Any one of these suffices; an empty list means every caller. */
  readonly scopes: readonly Scope[]
  /** Only callers of this role, whatever their scopes. */
  readonly role?: 'operator'
  readonly effect: Effect
  readonly errors: readonly ErrorCode[]
  readonly input: I
  readonly output: O
  /**
   * Over HTTP the content may also travel as it is, streamed: `in` is a PUT, `out` a GET of the path with `/content` behind it,
   * and all other fields are in the query.
   */
  readonly content?: 'in' | 'out'
  /** HTTP status of a success, where it is not 200. */
  readonly status?: 201
  /**
   * Keeps tool lists short, since short lists make good choices: `admin` is left out of the lists of agents and workers,
   * `tasker` of those of workers alone. Callable all the same.
   */
  readonly listed?: 'admin' | 'tasker'
  readonly deprecated?: { readonly successor: string }
}

export function operation<I extends z.ZodObject, O extends z.ZodObject>(
  definition: Operation<I, O>,
): Operation<I, O> {
  return definition
}

export type Contract = Readonly<Record<string, Operation>>
/** What a handler gets: parsed, with defaults filled in. */
export type Parsed<Op extends Operation> = z.output<Op['input']>
/** What a caller may write. */
export type Input<Op extends Operation> = z.input<Op['input']>
export type Output<Op extends Operation> = z.input<Op['output']>

/** `createTask` → `create_task`: the name on the wire. */
export function wireName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Where the content itself is taken or given, for an operation that has some. */
export function contentRouteOf(op: Operation): { method: 'PUT' | 'GET'; path: string } | undefined {
  if (op.content === undefined) return undefined
  return { method: op.content === 'in' ? 'PUT' : 'GET', path: `${routeOf(op).path}/content` }
}

export function routeOf(op: Operation): { method: Method; path: string; pathFields: string[] } {
  const [method, path] = op.route.split(' ') as [Method, string] // the template type proves the form
  return { method, path, pathFields: [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!) }
}
