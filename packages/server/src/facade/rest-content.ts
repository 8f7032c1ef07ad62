// Content as it is, of any size: operations that take or give some are also a PUT or a GET of the bytes themselves. They go
// through the same door; only the content travels besides the input and the reply.
import type { OutgoingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { contentRouteOf, contract, GateError, type Operation, type OperationKey } from '@asyncgate/sdk'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { peek } from '../channel/content.ts'
import type { OpenResult } from '../result/open.ts'
import type { Upload } from './handler.ts'
import { sendError } from './http-errors.ts'
import { identifyFirst } from './identify.ts'
import { setRateHeaders } from './rate-headers.ts'
import { callOf, fastifyPath, type RestParts } from './rest.ts'
import { createInputReader } from './rest-input.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is taken as it comes, and may take its time. */
    isStreamed?: true
  }
}

export function mountContent(app: FastifyInstance, parts: RestParts): void {
  // A scope of its own: nowhere else is a body taken unread.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    for (const key of Object.keys(contract) as OperationKey[]) mountOne(scope, key, parts)
  })
}

function mountOne(scope: FastifyInstance, key: OperationKey, parts: RestParts): void {
  const operation: Operation = contract[key]
  const route = contentRouteOf(operation)
  if (route === undefined) return
  const readInput = createInputReader(operation, 'query')
  scope.route({
    method: route.method,
    url: fastifyPath(route.path),
    exposeHeadRoute: false,
    config: { isStreamed: true },
    onRequest: identifyFirst(parts.identify),
    handler: async (request, reply) => {
      const input = readInput(request)
      const call = callOf(request, reply, parts)
      try {
        if (route.method === 'PUT')
          return await parts.dispatch(key, withType(input, request), {
            ...call,
            upload: uploadOf(request, call.signal),
          })
        const deliver = (result: OpenResult) => {
          if (call.admission !== undefined) setRateHeaders(reply, call.admission.shown) // the usual hook is passed by
          return send(result, reply, call.signal)
        }
        const facts = await parts.dispatch(key, input, { ...call, deliver })
        return reply.sent ? reply : await sendError(notHere(facts), request, reply)
      } catch (error) {
        if (!(error instanceof GateError)) throw error
        request.raw.resume() // what is left unread would stand before the next request of the connection
        if (!reply.sent) return sendError(error, request, reply)
        reply.raw.destroy() // what was begun cannot be taken back, but it is not ended as if it were whole
        return reply
      }
    },
  })
}

function withType(input: Record<string, unknown>, { headers }: FastifyRequest): Record<string, unknown> {
  const type = headers['content-type']
  return type === undefined || 'content_type' in input ? input : { ...input, content_type: type }
}

function uploadOf({ body, headers, raw }: FastifyRequest, signal: AbortSignal): Upload {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity')
    throw new GateError('unsupported_media_type', `Content is taken as it is, not as ${encoding}.`)
  const length = headers['content-length']
  const payload = body instanceof Readable ? body : Readable.from([])
  signal.addEventListener('abort', () => raw.destroy(), { once: true })
  return { content: received(payload), bytes: length === undefined ? null : Number(length) }
}

async function* received(payload: Readable): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    // Whoever has enough of it before its end still owes an answer on the same socket, which must not be closed under it.
    yield* payload.iterator({ destroyOnReturn: false })
  } catch (cause) {
    throw new GateError('invalid_input', 'The content ended before its end. Send it again.', {}, { cause })
  }
}

/** What is wrong with the first of it can still be said in words. */
async function send(
  { content, contentType, expected, held, taskId }: OpenResult,
  reply: FastifyReply,
  signal: AbortSignal,
): Promise<void> {
  const { content: all } = await peek(content, 0)
  const bytes = held?.length ?? expected.bytes
  const headers = {
    'content-type': contentType ?? 'application/octet-stream',
    'cache-control': 'no-store',
    // Whoever made it chose its type: a browser must not run it as a page of this server.
    'content-disposition': `attachment; filename="${taskId}"`,
    'content-security-policy': `${SECURITY_HEADERS['content-security-policy']}; sandbox`,
    ...(bytes !== null && { 'content-length': String(bytes) }),
    ...(expected.sha256 !== null && { 'repr-digest': digestOf(expected.sha256) }),
  }
  for (const [name, value] of Object.entries(headers)) reply.header(name, value)
  reply.hijack()
  reply.raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders) // the same, but for names of requests in its type
  await pipeline(Readable.from(all), reply.raw).catch((error) => {
    signal.throwIfAborted() // who asked has gone, which is no fault of ours
    throw error
  })
}

/** RFC 9530. */
function digestOf(sha256: string): string {
  return `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`
}

function notHere(facts: object): GateError {
  const { pointer } = facts as { pointer?: string } // a reply of fetch_task_result, which has one
  return new GateError(
    'not_found',
    "The result is kept by a store that is not AsyncGate's. Fetch it there.",
    { pointer },
  )
}
