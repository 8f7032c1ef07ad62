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
  if (!globalThis.navigator?.userAgent.startsWith('Node.js/')) return undefined
  const { protocol, hostname, port, pathname } = new URL(url)
  const node = protocol === 'https:' ? builtin('node:https') : builtin('node:http')
  if (node === undefined) return undefined
  const agent = agentOf(node)
  // An address of version 6 stands in brackets in a URL alone.
  const server = { agent, host: hostname.replace(/^\[|\]$/g, ''), port, timeout: patience.silenceMs }
  const base = pathname.replace(/\/+$/, '')
  const transport: Transport = async (request, signal) => {
    const { method, path, headers, body, isRepeatable } = request
    const head = { method, path: `${base}${path}`, headers: { 'user-agent': 'asyncgate-sdk', ...headers } }
    const sent = node.request({ ...server, ...head, ...(signal && { signal }) })
    try {
      return await answerTo(sent, body, patience)
    } catch (error) {
      // It was closed while the request was on its way, as by a server that starts anew: each is met once, then a fresh one is made.
      if (isRepeatable && sent.reusedSocket && isReset(error)) return transport(request, signal)
      throw error
    }
  }
  return transport
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}

function builtin(name: 'node:http' | 'node:https'): typeof Http | typeof Https | undefined {
  return globalThis.process?.getBuiltinModule?.(name)
}

const agents = new Map<object, Http.Agent>()

/** Clients share connections, as they do with fetch. What was set for Node's own agent, such as a proxy, holds here too. */
function agentOf(node: typeof Http | typeof Https): Http.Agent {
  const known = agents.get(node)
  if (known !== undefined) return known
  const usual = node.globalAgent as Https.Agent // whose type alone tells of its options
  const agent = new node.Agent({ ...usual.options, keepAlive: true, timeout: IDLE_MS_MAX })
  agents.set(node, agent)
  return agent
}

function answerTo(
  request: Http.ClientRequest,
  body: string | undefined,
  { connectMs, silenceMs }: Patience,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request.once('socket', (socket) => {
      if (!socket.connecting) return
      const timer = setTimeout(() => giveUp(request, 'connection', connectMs), connectMs)
      const done = () => clearTimeout(timer)
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', done).once('close', done)
    })
    request.once('timeout', () => giveUp(request, 'answer', silenceMs))
    request.on('error', reject)
    request.once('close', () => reject(new Error('the connection was closed without an answer')))
    request.once('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.once('error', reject)
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, text, header: (name) => response.headers[name] ?? null }),
      )
    })
    request.end(body)
  })
}

function giveUp(request: Http.ClientRequest, missing: string, waitedMs: number): void {
  request.destroy(new Error(`no ${missing} within ${waitedMs / 1_000} s`))
}
