// One MCP server instance: for one HTTP request, or for one stdio connection. Everything it does goes through
// the same door as REST.
import type { OperationKey } from '@asyncgate/sdk'
import { type Implementation, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Caller } from '../../auth/caller.ts'
import type { Admission } from '../../limits/limiter.ts'
import { FROM_WITHIN, type Origin } from '../audit.ts'
import type { Dispatch } from '../dispatch.ts'
import { instructions } from './instructions.ts'
import { operationOf, type ToolNames } from './names.ts'
import { getPrompt, PROMPTS } from './prompts.ts'
import { type Call, readResource, RESOURCE_TEMPLATES, RESOURCES } from './resources.ts'
import { type CallFacts, callTool, listTools } from './tools.ts'

export interface McpParts {
  readonly dispatch: Dispatch
  readonly toolNames: ToolNames
  readonly version: string
}

/** Whom this instance serves. */
export interface McpSession {
  readonly caller: Caller
  readonly nextRequestId: () => string
  /** Absent where no network is between. */
  readonly origin?: Origin
  /** Ends held calls besides the protocol's own cancellation. */
  readonly signal?: AbortSignal
  /** Absent where nobody is limited. */
  readonly admission?: Admission | undefined
}

/** Arguments stay as they came: our own door cleans and parses them, in the same words as for REST. */
const CallParams = z.looseObject({ name: z.string(), arguments: z.unknown().optional() })
/** Given here, since what does not fit the library's own schemas is answered as an internal error. */
const ReadParams = z.looseObject({ uri: z.string() })
const PromptParams = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.string()).optional(),
})

export function createMcpServer(parts: McpParts, session: McpSession): Server {
  const { toolNames, version } = parts
  const server = new Server(serverInfo(version), {
    capabilities: { tools: {}, resources: {}, prompts: {} },
    instructions: instructions(toolNames),
  })
  const callWith = (signal: AbortSignal): Call => {
    return (key, input) => parts.dispatch(key, input, callFacts(session, signal))
  }
  server.setRequestHandler('tools/list', () => ({ tools: listTools(session.caller, toolNames) }))
  server.setRequestHandler('tools/call', { params: CallParams }, (params, { mcpReq }) =>
    callTool(toolOf(params.name), params.arguments ?? {}, parts.dispatch, callFacts(session, mcpReq.signal)),
  )
  server.setRequestHandler('resources/list', () => RESOURCES)
  server.setRequestHandler('resources/templates/list', () => RESOURCE_TEMPLATES)
  server.setRequestHandler('resources/read', { params: ReadParams }, ({ uri }, { mcpReq }) =>
    readResource(uri, callWith(mcpReq.signal)),
  )
  server.setRequestHandler('prompts/list', () => PROMPTS)
  server.setRequestHandler('prompts/get', { params: PromptParams }, (params, { mcpReq }) =>
    getPrompt(params, toolNames, callWith(mcpReq.signal)),
  )
  return server
}

export function serverInfo(version: string): Implementation {
  return { name: 'asyncgate', title: 'AsyncGate', version }
}

function callFacts(session: McpSession, canceled: AbortSignal): CallFacts {
  const { caller, nextRequestId, origin = FROM_WITHIN, signal } = session
  return {
    caller,
    requestId: nextRequestId(),
    origin,
    signal: signal ? AbortSignal.any([signal, canceled]) : canceled,
    admission: session.admission,
  }
}

function toolOf(name: string): OperationKey {
  const key = operationOf(name)
  if (key === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`)
  return key
}
