// The two protocols of a running server behind one face: an operation and its input in, its answer out.
import { type OperationKey, routeOf, wireName, contract, type Operation } from '@asyncgate/sdk'
import { CLIENTS, type McpClient, type ToolResult } from './mcp-clients.ts'

export interface Answer {
  readonly ok: boolean
  /** The reply, or the error without its request id. */
  readonly body: Record<string, unknown>
  readonly requestId: string | null
  /** Of the HTTP exchange. */
  readonly status: number
  readonly headers: Headers
}

export interface Door {
  readonly protocol: 'REST' | 'MCP'
  call(key: OperationKey, input: unknown, credential: string): Promise<Answer>
  close(): Promise<void>
}

export const PROTOCOLS = ['REST', 'MCP'] as const
export type Protocol = (typeof PROTOCOLS)[number]

/** Every request brings its id, so that the server makes none: both protocols then use up the same ids. */
export const REQUEST_ID = 'request-of-the-test'

export function openDoor(protocol: Protocol, url: string): Door {
  return protocol === 'REST' ? restDoor(url) : mcpDoor(url)
}

function headersFor(credential: string): Record<string, string> {
  return { authorization: `Bearer ${credential}`, 'x-request-id': REQUEST_ID }
}

function restDoor(url: string): Door {
  return {
    protocol: 'REST',
    call: async (key, input, credential) => {
      const { address, init } = restRequest(url, contract[key], input as Record<string, unknown>)
      const headers = { ...headersFor(credential), ...init.headers }
      const response = await fetch(address, { ...init, headers })
      return answerOf(response, (await response.json()) as Record<string, unknown>, response.ok)
    },
    close: async () => {},
  }
}

function restRequest(url: string, operation: Operation, input: Record<string, unknown>) {
  const { method, path, pathFields } = routeOf(operation)
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(String(input[name])))
  const rest = Object.entries(input).filter(([name]) => !pathFields.includes(name))
  if (method === 'GET') {
    const query = new URLSearchParams(rest.map(([name, value]) => [name, String(value)])).toString()
    return { address: `${url}${filled}${query === '' ? '' : `?${query}`}`, init: { method, headers: {} } }
  }
  const body = JSON.stringify(Object.fromEntries(rest))
  return {
    address: `${url}${filled}`,
    init: { method, headers: { 'content-type': 'application/json' }, body },
  }
}

function answerOf(response: Response, body: Record<string, unknown>, ok: boolean): Answer {
  const { status, headers } = response
  if (ok) return { ok, body, requestId: headers.get('x-request-id'), status, headers }
  const { request_id, ...error } = body
  return { ok, body: error, requestId: request_id as string, status, headers }
}

/** One official client per credential; the last exchange is watched for its status and headers. */
function mcpDoor(url: string): Door {
  const clients = new Map<string, Promise<Watched>>()
  return {
    protocol: 'MCP',
    call: async (key, input, credential) => {
      const params = { name: `asyncgate_${wireName(key)}`, arguments: input as Record<string, unknown> }
      const known = clients.get(credential) ?? connect(url, credential)
      clients.set(credential, known)
      const refused = await known.then(
        () => null,
        (error: unknown) => error,
      )
      if (refused !== null) return callWithoutClient(url, params, credential)
      const { client, last } = await known
      const result = (await client.callTool(params)) as ToolResult
      const body = result.structuredContent ?? {}
      // A client may show its model the text instead: it must say the same.
      if (JSON.stringify(JSON.parse(result.content[0]!.text!)) !== JSON.stringify(body))
        throw new Error(`the text of ${params.name} differs from its structure`)
      return answerOf(last(), body, result.isError !== true)
    },
    close: async () => {
      for (const known of clients.values())
        await known.then(
          ({ client }) => client.close(),
          () => {},
        )
    },
  }
}

interface Watched {
  readonly client: McpClient
  last(): Response
}

async function connect(url: string, credential: string): Promise<Watched> {
  let last: Response | undefined
  const watch: typeof fetch = async (input, init) => {
    last = await fetch(input, init)
    return last
  }
  const [, connectClient] = CLIENTS.at(-1)!
  const client = await connectClient({ url: `${url}/mcp`, headers: headersFor(credential), fetch: watch })
  await client.listTools() // from here on the client checks what it gets against the output schemas
  return { client, last: () => last! }
}

/** A client that is refused at the door never gets to call a tool; the refusal is read as it comes. */
async function callWithoutClient(url: string, params: object, credential: string): Promise<Answer> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      ...headersFor(credential),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  const { error } = (await response.json()) as { error: { data: Record<string, unknown> } }
  return answerOf(response, error.data, false)
}
