// Node's own HTTP client: a creation takes a program 81 µs of processor time, and 191 through Node's fetch (32 at once).
import type * as Http from 'node:http'
import type * as Https from 'node:https'
import type { Answer, Transport } from './transport.ts'

/** Shorter than most proxies keep an idle connection, so that few are closed while a request is on its way. */
const IDLE_MS_MAX = 30_000

export interface Bounds {
  /** With nothing that happens on the way to a connection. */
  readonly connectMs: number
  /** For an answer, or for a connection that is free; the longest that a server is let to hold a call is a minute. */
  readonly silenceMs: number
  /** Of an answer, in characters. No text can be twice as long as the default, and no reply of ours is half as long. */
  readonly lengthMax: number
}

const BOUNDS: Bounds = { connectMs: 10_000, silenceMs: 300_000, lengthMax: 2 ** 28 }

/** Undefined where there is no Node: what imitates it has a fetch of its own. Not imported, for the reason that threads are not. */
export function overNode(url: string, bounds: Bounds = BOUNDS): Transport | undefined {
  if (!isNode()) return undefined
  const { protocol, hostname, port, pathname } = new URL(url)
  const node = protocol === 'https:' ? builtin('node:https') : builtin('node:http')
  if (node === undefined) return undefined
  const { keeping, fresh } = agentsOf(node)
  // An address of version 6 stands in brackets in a URL alone.
  const server = { host: hostname.replace(/^\[|\]$/g, ''), port, timeout: bounds.silenceMs }
  const base = pathname.replace(/\/+$/, '')
  return async ({ method, path, headers, body, isRepeatable }, signal) => {
    const head = { method, path: `${base}${path}`, headers: { 'user-agent': 'asyncgate-sdk', ...headers } }
    const ask = (agent: Http.Agent) => {
      signal?.throwIfAborted()
      const request = node.request({ ...server, ...head, agent })
      return { request, answer: answerTo(request, { body, bounds, signal }) }
    }
    const { request, answer } = ask(keeping)
    try {
      return await answer
    } catch (error) {
      // The connection was closed while the request was on its way, as by a server that starts anew: then so are the others.
      if (!(isRepeatable && request.reusedSocket && isReset(error))) throw error
      return ask(fresh).answer
    }
  }
}

/** Browsers and what imitates them say less of themselves. */
function isNode(): boolean {
  const { userAgent }: { readonly userAgent?: string } = globalThis.navigator ?? {}
  return userAgent?.startsWith('Node.js/') ?? false
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}

function builtin(name: 'node:http' | 'node:https'): typeof Http | typeof Https | undefined {
  return globalThis.process?.getBuiltinModule?.(name)
}

interface Agents {
  readonly keeping: Http.Agent
  /** Each request on a connection of its own. */
  readonly fresh: Http.Agent
}

const agents = new Map<object, Agents>()

/** Clients share connections, as they do with fetch. The options of Node's own agent, such as certificates, hold here too. */
function agentsOf(node: typeof Http | typeof Https): Agents {
  const known = agents.get(node)
  if (known !== undefined) return known
  const { options } = node.globalAgent as Https.Agent // whose type alone tells of its options
  const made = {
    keeping: new node.Agent({ ...options, keepAlive: true, timeout: IDLE_MS_MAX }),
    fresh: new node.Agent({ ...options, keepAlive: false }),
  }
  agents.set(node, made)
  return made
}

/** What Node gives its own agents, or what reaches a thread anyhow. */
const USUAL = new Set([
  'keepAlive',
  'scheduling',
  'timeout',
  'proxyEnv',
  'defaultPort',
  'protocol',
  'noDelay',
  'path',
])

/** Whether the program has set up how servers are reached, as by certificates: a thread would know nothing of it. */
export function isSetUp(url: string): boolean {
  const node = isNode() ? builtin(url.startsWith('https:') ? 'node:https' : 'node:http') : undefined
  const options = Object.entries((node?.globalAgent as Https.Agent | undefined)?.options ?? {})
  return options.some(([name, value]) => value !== undefined && !USUAL.has(name))
}

interface Asking {
  readonly body: string | undefined
  readonly bounds: Bounds
  readonly signal: AbortSignal | undefined
}

function answerTo(request: Http.ClientRequest, { body, bounds, signal }: Asking): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  // A request that has no connection yet says nothing of its end, whose reason is said here.
  const drop = (reason: unknown) => {
    reject(reason)
    request.destroy()
  }
  const abort = () => drop(signal?.reason)
  signal?.addEventListener('abort', abort)
  const connected = watchConnecting(request, bounds, drop)
  request.once('timeout', () => drop(missing('answer', bounds.silenceMs)))
  request.on('error', reject)
  const broken = () => reject(new Error('the connection was closed without an answer'))
  request.once('close', broken)
  const whole = (answer: Answer) => {
    request.off('close', broken)
    resolve(answer)
  }
  request.once('response', (response) => readAnswer(response, bounds, { whole, drop }))
  request.end(body)
  return promise.finally(() => {
    signal?.removeEventListener('abort', abort)
    connected()
  })
}

/**
 * Gives up when nothing happens any more on the way to a connection. Until there is a socket, the agent lets others go first or a proxy is
 * asked, and Node tells nothing of it. The function that it gives ends it.
 */
function watchConnecting(
  request: Http.ClientRequest,
  { connectMs, silenceMs }: Bounds,
  drop: (reason: unknown) => void,
): () => void {
  let hasMoved = false
  let timer = setTimeout(() => drop(missing('connection', silenceMs)), silenceMs)
  const done = () => clearTimeout(timer)
  // A program that was busy until now is first told what has happened meanwhile, one step a turn.
  const look = () => {
    if (!hasMoved) return drop(missing('connection', connectMs))
    hasMoved = false
    timer.refresh()
  }
  request.once('socket', (socket) => {
    done()
    if (!socket.connecting) return
    let isDone = false
    timer = setTimeout(() => void setImmediate(() => isDone || look()), connectMs)
    const move = () => void (hasMoved = true)
    const end = () => {
      isDone = true
      done()
    }
    socket.once('lookup', move).once('connect', move).once('close', end)
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', end)
  })
  return done
}

function readAnswer(
  response: Http.IncomingMessage,
  { lengthMax }: Bounds,
  { whole, drop }: { whole: (answer: Answer) => void; drop: (reason: unknown) => void },
): void {
  let text = ''
  response.setEncoding('utf8').on('data', (chunk: string) => {
    if (text.length + chunk.length > lengthMax)
      drop(new Error(`the answer is longer than ${lengthMax} characters`))
    else text += chunk
  })
  response.once('error', drop)
  response.once('end', () =>
    whole({ status: response.statusCode ?? 0, text, header: (name) => response.headers[name] ?? null }),
  )
}

function missing(what: string, waitedMs: number): Error {
  return new Error(`no ${what} within ${waitedMs / 1_000} s`)
}
