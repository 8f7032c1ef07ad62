// Node's own HTTP client: a call takes a program a third of the processor time that it takes through Node's fetch.
import type * as Http from 'node:http'
import type * as Https from 'node:https'
import type { Answer, Transport } from './transport.ts'

/** Shorter than most proxies keep an idle connection, so that few are closed while a request is on its way. */
const IDLE_MS_MAX = 30_000

export interface Patience {
  readonly connectMs: number
  /** For an answer; the longest that a server is let to hold a call is a minute. */
  readonly silenceMs: number
}

const PATIENCE: Patience = { connectMs: 10_000, silenceMs: 300_000 }

/** Undefined where there is no Node: what imitates it has a fetch of its own. Not imported, for the reason that threads are not. */
export function overNode(url: string, patience: Patience = PATIENCE): Transport | undefined {
  if (!isNode()) return undefined
  const { protocol, hostname, port, pathname } = new URL(url)
  const node = protocol === 'https:' ? builtin('node:https') : builtin('node:http')
  if (node === undefined) return undefined
  const { keeping, fresh } = agentsOf(node)
  // An address of version 6 stands in brackets in a URL alone.
  const server = { host: hostname.replace(/^\[|\]$/g, ''), port, timeout: patience.silenceMs }
  const base = pathname.replace(/\/+$/, '')
  return async ({ method, path, headers, body, isRepeatable }, signal) => {
    const head = { method, path: `${base}${path}`, headers: { 'user-agent': 'asyncgate-sdk', ...headers } }
    const sendOn = (agent: Http.Agent) =>
      node.request({ ...server, ...head, agent, ...(signal && { signal }) })
    const sent = sendOn(keeping)
    try {
      return await answerTo(sent, body, patience)
    } catch (error) {
      // The connection was closed while the request was on its way, as by a server that starts anew: then so are the others.
      if (!(isRepeatable && sent.reusedSocket && isReset(error))) throw error
      return answerTo(sendOn(fresh), body, patience)
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

function answerTo(
  request: Http.ClientRequest,
  body: string | undefined,
  { connectMs, silenceMs }: Patience,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request.once('socket', (socket) => {
      if (!socket.connecting) return
      // A program that was busy until now is first told whether there is a connection.
      const look = () => void setImmediate(() => isDone || giveUp(request, 'connection', connectMs))
      const timer = setTimeout(look, connectMs)
      let isDone = false
      const done = () => {
        isDone = true
        clearTimeout(timer)
      }
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', done).once('close', done)
    })
    request.once('timeout', () => giveUp(request, 'answer', silenceMs))
    request.on('error', reject)
    const broken = () => reject(new Error('the connection was closed without an answer'))
    request.once('close', broken)
    request.once('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.once('error', reject)
      response.once('end', () => {
        request.off('close', broken)
        resolve({ status: response.statusCode ?? 0, text, header: (name) => response.headers[name] ?? null })
      })
    })
    request.end(body)
  })
}

function giveUp(request: Http.ClientRequest, missing: string, waitedMs: number): void {
  request.destroy(new Error(`no ${missing} within ${waitedMs / 1_000} s`))
}
