// The one kind of MCP request that is answered without the library: a single tools/call of the newer protocol generation
// with nothing unusual about it. That is what agents send nearly always, and the library makes a server and a web request
// for each: 0.3 ms of processor time and more, which is what the whole call takes over REST. This says yes only to what
// the library would serve; whatever it does not know goes to the library, which alone refuses.
import type { IncomingHttpHeaders } from 'node:http'
import type { OperationKey } from '@asyncgate/sdk'
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isJsonContentType,
  isSpecType,
  JSONRPC_VERSION,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server'
import { operationOf } from './names.ts'
import { serverInfo } from './server.ts'
import { resultMembers, type ToolResult } from './tools.ts'

export interface PlainCall {
  readonly id: string | number
  readonly key: OperationKey
  readonly input: object
}

const VERSION = '2026-07-28'
const METHOD = 'tools/call'

const MESSAGE_MEMBERS = new Set(['jsonrpc', 'id', 'method', 'params'])
/** What a client sends to go on with a call is missing here on purpose. */
const PARAMS_MEMBERS = new Set(['name', 'arguments', '_meta'])

/** Null for everything else. */
export function plainCallOf(headers: IncomingHttpHeaders, body: unknown): PlainCall | null {
  if (headers['mcp-protocol-version'] !== VERSION || headers['mcp-method'] !== METHOD) return null
  if (!isJsonContentType(headers['content-type'] ?? null)) return null
  if (!isRecord(body) || !hasOnly(MESSAGE_MEMBERS, body)) return null
  const { jsonrpc, id, method, params } = body
  if (jsonrpc !== JSONRPC_VERSION || method !== METHOD || !isId(id)) return null
  if (!isRecord(params) || !hasOnly(PARAMS_MEMBERS, params)) return null
  const { name, arguments: input = {}, _meta: meta } = params
  if (typeof name !== 'string' || headers['mcp-name'] !== name || !isRecord(input)) return null
  const key = operationOf(name)
  return key === undefined || !isPlainMeta(meta) ? null : { id, key, input }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function hasOnly(members: ReadonlySet<string>, value: object): boolean {
  return Object.keys(value).every((name) => members.has(name))
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

/** A progress token asks for nothing: we send no progress. */
const META_CHECKS = new Map<string, (value: unknown) => boolean>([
  [PROTOCOL_VERSION_META_KEY, (value) => value === VERSION],
  [CLIENT_INFO_META_KEY, (value) => isSpecType.Implementation(value)],
  [CLIENT_CAPABILITIES_META_KEY, (value) => isSpecType.ClientCapabilities(value)],
  ['progressToken', isId],
])

/** Names of others carry anything; those of the protocol itself that are not known here may mean something. */
function isPlainMeta(meta: unknown): boolean {
  if (!isRecord(meta)) return false
  if (!(PROTOCOL_VERSION_META_KEY in meta && CLIENT_CAPABILITIES_META_KEY in meta)) return false
  return Object.entries(meta).every(([name, value]) => {
    const check = META_CHECKS.get(name)
    return check ? check(value) : !name.startsWith('io.modelcontextprotocol/') && name !== '__proto__'
  })
}

/** The reply to such a call, as the library would write it. */
export function createPlainReply(version: string): (call: PlainCall, result: ToolResult) => string {
  const meta = JSON.stringify({ [SERVER_INFO_META_KEY]: serverInfo(version) })
  const rest = `"resultType":"complete","_meta":${meta}`
  return ({ id }, result) =>
    `{"result":{${resultMembers(result)},${rest}},"jsonrpc":"${JSONRPC_VERSION}","id":${JSON.stringify(id)}}`
}
