// MCP over Streamable HTTP at /mcp, both protocol generations on the one address (MCP-1). Stateless: no request needs
// another one before it, so that any instance of AsyncGate can answer any request.
import { contract, GateError } from '@asyncgate/sdk'
import { createMcpHandler, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { answerAtOnce } from '../bodies.ts'
import { type CallLog, type Dispatch, hasScope } from '../dispatch.ts'
import type { HostGuard } from '../host-guard.ts'
import { explain, setErrorHeaders } from '../http-errors.ts'
import { type Identify, identifyFirst, type NoteRefusal, originOf } from '../identify.ts'
import { callerOf } from '../rest.ts'
import type { Signals } from '../signals.ts'
import { operationOf } from './names.ts'
import { createPlainReply, type PlainCall, plainCallOf } from './plain-call.ts'
import { createMcpServer, type McpParts, type McpSession } from './server.ts'
import { callTool } from './tools.ts'

export interface McpHttpParts extends McpParts {
  readonly identify: Identify
  readonly hostGuard: HostGuard
  readonly signals: Signals
  readonly noteRefusal: NoteRefusal
  readonly log: CallLog
  /** Off only where the two ways of answering are compared. Default on. */
  readonly answersPlainCalls?: boolean
}

export function mountMcp(app: FastifyInstance, parts: McpHttpParts): void {
  const { answersPlainCalls = true } = parts
  const answerPlainCall = createPlainAnswer(parts)
  const answerWithLibrary = createLibraryAnswer(app, parts)
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    if (request.body === undefined) throw new GateError('invalid_input', 'The body is empty.')
    reply.header('cache-control', 'no-store')
    if (callerOf(request).canAskForMore) await refuseForScope(request, parts.dispatch)
    const call = answersPlainCalls ? plainCallOf(request.headers, request.body) : null
    return call ? answerPlainCall(call, request, reply) : answerWithLibrary(request, reply)
  }
  app.post('/mcp', {
    onRequest: [guardFirst(parts), identifyFirst(parts.identify), answerAtOnce(answer)],
    errorHandler: (error, request, reply) => {
      sendRpcError(explain(error, request, parts.log), request, reply)
    },
    handler: answer,
  })
}

function guardFirst({ hostGuard, noteRefusal }: McpHttpParts): onRequestHookHandler {
  return (request, _reply, done) => {
    try {
      hostGuard(request.headers)
    } catch (error) {
      noteRefusal(request, error as GateError, { event: 'authorization.failed' }) // it throws nothing else
      throw error
    }
    done()
  }
}

/**
 * A client that came by a token can ask its person for a further scope, and does when it hears 403 with the scope to ask for; in
 * a result of the tool it would not look. The one door refuses it, as it would later.
 */
async function refuseForScope(request: FastifyRequest, dispatch: Dispatch): Promise<void> {
  const caller = callerOf(request)
  for (const message of [request.body].flat() as { method?: unknown; params?: { name?: unknown } }[]) {
    if (message?.method !== 'tools/call' || typeof message.params?.name !== 'string') continue
    const key = operationOf(message.params.name)
    if (key === undefined || hasScope(contract[key], caller)) continue
    await dispatch(key, {}, { caller, requestId: request.id, origin: originOf(request) })
  }
}

function createPlainAnswer({ dispatch, signals, version }: McpHttpParts) {
  const write = createPlainReply(version)
  return async (call: PlainCall, request: FastifyRequest, reply: FastifyReply): Promise<string> => {
    const facts = {
      caller: callerOf(request),
      requestId: request.id,
      origin: originOf(request),
      signal: signals(reply),
      admission: request.admission ?? undefined,
    }
    const json = write(call, await callTool(call.key, call.input, dispatch, facts))
    reply.header('content-type', 'application/json').serializer(asItIs)
    return json
  }
}

/** Without a serializer of ours a charset would be added, which the library does not send. */
function asItIs(json: string): string {
  return json
}

function createLibraryAnswer(app: FastifyInstance, parts: McpHttpParts) {
  // The handler makes server instances itself; this is how one learns whom it is for.
  const sessions = new WeakMap<Request, McpSession>()
  const handler = createMcpHandler(({ requestInfo }) => {
    const session = requestInfo && sessions.get(requestInfo)
    if (!session) throw new Error('an MCP request came in by no known way')
    return createMcpServer(parts, session)
  })
  app.addHook('onClose', () => handler.close())
  return (request: FastifyRequest, reply: FastifyReply): Promise<Response> => {
    const web = webRequest(request, reply)
    const signal = parts.signals(reply)
    const origin = originOf(request)
    const admission = request.admission ?? undefined
    sessions.set(web, {
      caller: callerOf(request),
      nextRequestId: () => request.id,
      origin,
      signal,
      admission,
    })
    return handler.fetch(web, { parsedBody: request.body })
  }
}

/**
 * The body has been read and is handed over parsed. The signal fires when the client goes, and only then. The address is
 * nobody's business there, and not every Host makes one.
 */
function webRequest(request: FastifyRequest, reply: FastifyReply): Request {
  const gone = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort()
  })
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  return new Request('http://localhost/mcp', { method: 'POST', headers, signal: gone.signal })
}

/** Refusals before the protocol: in JSON-RPC's form, which its clients can read, with our error body as data. */
function sendRpcError(error: GateError, request: FastifyRequest, reply: FastifyReply): void {
  setErrorHeaders(error, reply)
  const data = { ...error.body(), request_id: request.id }
  const body = { jsonrpc: '2.0', id: null, error: { code: rpcCode(error), message: error.message, data } }
  void reply.code(error.status).send(body)
}

/** JSON-RPC leaves -32000 to servers. */
function rpcCode({ code, status }: GateError): number {
  if (code === 'invalid_input') return ProtocolErrorCode.ParseError
  return status < 500 ? -32_000 : ProtocolErrorCode.InternalError
}
