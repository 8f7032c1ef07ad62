// Calls with bodies that no proper client would write: the input of an operation as text, put into a request of either
// protocol as it stands.
import { contract, type OperationKey, routeOf, wireName } from '@asyncgate/sdk'
import type { Protocol } from './doors.ts'

export interface RawCall {
  readonly key: OperationKey
  /** The input's text, without what stands in the path over REST. */
  readonly text: string
  /** Over REST in the path, over MCP among the arguments. */
  readonly path?: Readonly<Record<string, string>>
  readonly contentType?: string
}

export interface RawAnswer {
  readonly status: number
  /** The reply, or the error as it is over REST. */
  readonly body: Record<string, unknown>
  readonly ok: boolean
}

export interface Target {
  readonly url: string
  readonly credential: string
}

export function callRaw(protocol: Protocol, call: RawCall, target: Target): Promise<RawAnswer> {
  return protocol === 'REST' ? callRest(call, target) : callMcp(call, target)
}

async function callRest(call: RawCall, { url, credential }: Target): Promise<RawAnswer> {
  const { method, path } = routeOf(contract[call.key])
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(call.path?.[name] ?? ''),
  )
  const authorization = `Bearer ${credential}`
  const response =
    method === 'GET'
      ? await fetch(`${url}${filled}${queryOf(call.text)}`, { headers: { authorization } })
      : await fetch(`${url}${filled}`, {
          method,
          headers: { authorization, 'content-type': call.contentType ?? 'application/json' },
          body: call.text,
        })
  return { status: response.status, ok: response.ok, body: (await response.json()) as RawAnswer['body'] }
}

/** A query has no types; what is no text is written as JSON. */
function queryOf(text: string): string {
  const entries = Object.entries(JSON.parse(text) as Record<string, unknown>)
  const query = new URLSearchParams(
    entries.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
  return entries.length === 0 ? '' : `?${query.toString()}`
}

async function callMcp(call: RawCall, { url, credential }: Target): Promise<RawAnswer> {
  const name = JSON.stringify(`asyncgate_${wireName(call.key)}`)
  const params = `{"name":${name},"arguments":${withPath(call)}}`
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${credential}`,
      'content-type': call.contentType ?? 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`,
  })
  return answerOf(response.status, messageIn(await response.text()))
}

/** The path's fields go first: a text that names one again is then the one that counts, as it would in any JSON. */
function withPath({ text, path = {} }: RawCall): string {
  const fields = JSON.stringify(path).slice(1, -1)
  if (fields === '' || !text.trimStart().startsWith('{')) return text
  return text.replace(/\{\s*/, (brace) =>
    /^\{\s*\}/.test(text.trimStart()) ? `{${fields}` : `${brace}${fields},`,
  )
}

interface Message {
  readonly result?: { readonly isError?: boolean; readonly structuredContent?: RawAnswer['body'] }
  readonly error?: { readonly code: number; readonly message: string; readonly data?: RawAnswer['body'] }
}

/** A JSON body, or the one event of a stream. */
function messageIn(text: string): Message {
  const json = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}')
  return JSON.parse(json) as Message
}

function answerOf(status: number, { result, error }: Message): RawAnswer {
  if (result !== undefined)
    return { status, ok: result.isError !== true, body: result.structuredContent ?? {} }
  return {
    status,
    ok: false,
    body: error?.data ?? { error: `JSON-RPC ${error?.code}`, message: error?.message },
  }
}
