// MCP over Streamable HTTP at /mcp, both protocol generations on the one address (MCP-1). Stateless: each request
// gets a server instance of its own, so that any instance of AsyncGate can answer any request.
import { GateError } from '@asyncgate/sdk'
import { createMcpHandler, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticate } from '../../auth/shared-key.ts'
import type { CallLog } from '../dispatch.ts'
import type { HostGuard } from '../host-guard.ts'
import { explain, setErrorHeaders } from '../http-errors.ts'
import { callerOf } from '../rest.ts'
import type { Signals } from '../signals.ts'
import { createMcpServer, type McpParts, type McpSession } from './server.ts'

export interface McpHttpParts extends McpParts {
  readonly authenticate: Authenticate
  readonly hostGuard: HostGuard
  readonly signals: Signals
  readonly log: CallLog
}

export function mountMcp(app: FastifyInstance, parts: McpHttpParts): void {
  // The handler makes server instances itself; this is how one learns whom it is for.
  const sessions = new WeakMap<Request, McpSession>()
  const handler = createMcpHandler(({ requestInfo }) => {
    const session = requestInfo && sessions.get(requestInfo)
    if (!session) throw new Error('an MCP request came in by no known way')
    return createMcpServer(parts, session)
  })
  app.addHook('onClose', () => handler.close())
  app.post('/mcp', {
    onRequest: async (request) => {
      parts.hostGuard(request.headers)
      request.caller = await parts.authenticate(request.headers)
    },
    errorHandler: (error, request, reply) => {
      sendRpcError(explain(error, request, parts.log), request, reply)
    },
    handler: async (request, reply) => {
      if (request.body === undefined) throw new GateError('invalid_input', 'The body is empty.')
      const web = webRequest(request, reply)
      const signal = parts.signals(reply)
      sessions.set(web, { caller: callerOf(request), nextRequestId: () => request.id, signal })
      const response = await handler.fetch(web, { parsedBody: request.body })
      return reply.header('cache-control', 'no-store').send(response)
    },
  })
}

/** The body has been read and is handed over parsed. The signal fires when the client goes, and only then. */
function webRequest(request: FastifyRequest, reply: FastifyReply): Request {
  const gone = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort()
  })
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  return new Request(`http://${request.host || 'localhost'}${request.url}`, {
    method: 'POST',
    headers,
    signal: gone.signal,
  })
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
