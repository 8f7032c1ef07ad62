// The typed client: one method per operation, made from the contract, so that it cannot drift from the server.
import type { z } from 'zod'
import { type ContentCalls, createContentCalls } from './client/content.ts'
import { systemIds } from './client/ids.ts'
import { isSetUp, overNode } from './client/node-transport.ts'
import { reach, type Wire } from './client/reach.ts'
import { rememberWire } from './client/wires.ts'
import { isSafeToRepeat, type Retry, withRetries } from './client/retry.ts'
import { overFetch } from './client/transport.ts'
import { contract, type GateContract, type OperationKey } from './contract/index.ts'
import type { Input, Operation } from './contract/operation.ts'

export interface ClientOptions {
  /** Where the server is, e.g. `http://127.0.0.1:8420`. */
  readonly url: string
  readonly apiKey?: string | undefined
  /** Whom to act as where a call does not say; for keys that speak for more than one principal. */
  readonly principal?: {
    readonly kind?: 'agent' | 'worker' | 'service' | 'human'
    readonly id?: string
    readonly instanceId?: string
  }
  /**
   * Calls that are safe to repeat are repeated while the server cannot be reached or is overloaded: after 5, 10, 20, 40 and 60 seconds
   * unless it asks for another delay. `{ max }` for fewer or more repeats, `false` to fail at once.
   */
  readonly retry?: Retry | false
  /** Instead of what the runtime has; default on Node its own HTTP client, elsewhere its fetch. */
  readonly fetch?: typeof fetch
  /** Where idempotency keys come from. */
  readonly ids?: { next(): string }
}

export interface CallOptions {
  readonly signal?: AbortSignal
  /** Fail at once, whatever the client does otherwise. */
  readonly retry?: false
}

export type Reply<Op extends Operation> = z.output<Op['output']>

/** An input that need not say anything may be left out; one without any fields has the keys of a bare record. */
type Given<I> = string extends keyof I ? [input?: I] : Partial<I> extends I ? [input?: I] : [input: I]

type Call<Op extends Operation> = (
  ...given: [...Given<Input<Op>>, options?: CallOptions]
) => Promise<Reply<Op>>

/** Methods throw `GateError`: what the server refused, or that it could not be reached. */
export type Client = { readonly [K in OperationKey]: Call<GateContract[K]> } & Readonly<ContentCalls>

type Fields = Record<string, unknown>

export function createClient(options: ClientOptions): Client {
  const url = baseOf(options.url)
  const own = options.fetch === undefined ? overNode(url) : undefined
  const send = options.fetch ?? globalThis.fetch
  const wire: Wire = { url, apiKey: options.apiKey, transport: own ?? overFetch(url, send), fetch: send }
  const methods = (Object.keys(contract) as OperationKey[]).map(
    (key) => [key, methodOf(key, wire, options)] as const,
  )
  // Each method takes and returns what its own contract entry says; the compiler cannot follow that through a loop.
  const calls = Object.fromEntries(methods) as unknown as Omit<Client, keyof ContentCalls>
  const retry = options.retry ?? {}
  const complete = (input: Fields, operation: Operation) => withPrincipal(input, operation, options.principal)
  const client = { ...calls, ...createContentCalls({ wire, retry, complete }) } as Client // together they are all of it
  if (options.fetch === undefined && !isSetUp(url)) rememberWire(client, wire)
  return client
}

/** Said at once: a call would be repeated for minutes before it gave up. */
function baseOf(url: string | undefined): string {
  const { protocol, username, password, search, hash } = URL.parse(url ?? '') ?? {}
  if (username || password)
    throw new TypeError(
      'The url of the server has a name or password in it. Give a key as apiKey, and the url without.',
    )
  if (search || hash)
    throw new TypeError(
      `The url of the server ends with "${search || hash}". Give it without: paths are put behind it.`,
    )
  if (url !== undefined && (protocol === 'http:' || protocol === 'https:')) return url.replace(/\/+$/, '')
  throw new TypeError(
    `The url of the server is ${url === undefined ? 'missing' : `"${url}"`}. Give one that begins with http:// or https://, as in ` +
      'createClient({ url: "http://127.0.0.1:8420" }); is the variable set that it is taken from?',
  )
}

function methodOf(key: OperationKey, wire: Wire, options: ClientOptions) {
  const operation: Operation = contract[key]
  const ids = options.ids ?? systemIds
  return async (given: Fields = {}, { signal, retry }: CallOptions = {}): Promise<unknown> => {
    const input = withIdempotencyKeys(key, withPrincipal(given, operation, options.principal), ids)
    const isRepeatable = isSafeToRepeat(key)
    const attempt = () => reach({ operation, input, isRepeatable, signal }, wire)
    if (retry === false || options.retry === false || !isRepeatable) return attempt()
    return withRetries(attempt, options.retry ?? {}, signal)
  }
}

function withPrincipal(
  input: Fields,
  { input: { shape } }: Operation,
  principal: ClientOptions['principal'],
): Fields {
  const namesSomebody = ['principal_kind', 'principal_id', 'worker_id'].some(
    (name) => input[name] !== undefined,
  )
  const who = namesSomebody ? {} : { principal_kind: principal?.kind, principal_id: principal?.id }
  const defaults: Fields = { ...who, principal_instance_id: principal?.instanceId }
  const known = Object.entries(defaults).filter(([name, value]) => name in shape && value !== undefined)
  return { ...Object.fromEntries(known), ...input }
}

/** A creation that is repeated must not create twice, so each gets a key of its own before it is first sent. */
function withIdempotencyKeys(key: OperationKey, input: Fields, ids: { next(): string }): Fields {
  if (key === 'createTask') return withKey(input, ids)
  if (key !== 'createTasks' || !Array.isArray(input.tasks)) return input
  return { ...input, tasks: input.tasks.map((task: Fields) => withKey(task, ids)) }
}

/** A key that is there but undefined is none. */
function withKey(task: Fields, ids: { next(): string }): Fields {
  return { ...task, idempotency_key: task.idempotency_key ?? ids.next() }
}
