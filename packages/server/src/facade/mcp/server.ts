// One MCP server instance: for one HTTP request, or for one stdio connection. Everything it does goes through
// the same door as REST.
import { GateError } from '@asyncgate/sdk'
import { type CallToolResult, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Caller } from '../../auth/caller.ts'
import type { Dispatch } from '../dispatch.ts'
import { instructions } from './instructions.ts'
import { operationOf, type ToolNames } from './names.ts'
import { getPrompt, PROMPTS } from './prompts.ts'
import { type Call, readResource, RESOURCE_TEMPLATES, RESOURCES } from './resources.ts'
import { errorResult, listTools, successResult } from './tools.ts'

export interface McpParts {
  readonly dispatch: Dispatch
  readonly toolNames: ToolNames
  readonly version: string
}

/** Whom this instance serves. */
export interface McpSession {
  readonly caller: Caller
  readonly nextRequestId: () => string
  /** Ends held calls besides the protocol's own cancellation. */
  readonly signal?: AbortSignal
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
  const server = new Server(
    { name: 'asyncgate', title: 'AsyncGate', version },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: instructions(toolNames) },
  )
  const callWith = (signal: AbortSignal): Call => {
    return (key, input) => parts.dispatch(key, input, callFacts(session, signal))
  }
  server.setRequestHandler('tools/list', () => ({ tools: listTools(session.caller, toolNames) }))
  server.setRequestHandler('tools/call', { params: CallParams }, (params, { mcpReq }) =>
    callTool(params, parts.dispatch, callFacts(session, mcpReq.signal)),
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

interface CallFacts {
  readonly caller: Caller
  readonly requestId: string
  readonly signal: AbortSignal
}

function callFacts({ caller, nextRequestId, signal }: McpSession, canceled: AbortSignal): CallFacts {
  return {
    caller,
    requestId: nextRequestId(),
    signal: signal ? AbortSignal.any([signal, canceled]) : canceled,
  }
}

async function callTool(
  params: z.output<typeof CallParams>,
  dispatch: Dispatch,
  facts: CallFacts,
): Promise<CallToolResult> {
  const key = operationOf(params.name)
  if (key === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`)
  try {
    return successResult(await dispatch(key, params.arguments ?? {}, facts))
  } catch (error) {
    if (error instanceof GateError) return errorResult(error, facts.requestId)
    throw error
  }
}
