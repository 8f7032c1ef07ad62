// From what went wrong to the one error body, wherever in the life of a request it happened.
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { GateError, type ErrorCode } from '@asyncgate/sdk'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Shown } from '../limits/limiter.ts'
import { setChallenge } from './challenge.ts'
import type { CallLog } from './dispatch.ts'
import { rateHeaders, setRateHeaders } from './rate-headers.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

/** As long as the first wait of our own client. */
const RETRY_AFTER_SECONDS = 5

/** Sends the body with the headers that its status asks for. */
export function sendError(error: GateError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  setErrorHeaders(error, reply)
  return reply.code(error.status).send({ ...error.body(), request_id: request.id })
}

export function setErrorHeaders(error: GateError, reply: FastifyReply): void {
  const { status, details } = error
  reply.header('cache-control', 'no-store')
  setChallenge(error, reply)
  if (status === 429 || status === 503) {
    const seconds = details.retry_after
    reply.header(
      'retry-after',
      String(typeof seconds === 'number' ? Math.ceil(seconds) : RETRY_AFTER_SECONDS),
    )
  }
}

/** Everything that is refused outside of dispatch, which logs what it refuses itself. */
export function answerErrors(app: FastifyInstance, log: CallLog): void {
  refuseUnknownRoutes(app)
  app.setErrorHandler((thrown, request, reply) => sendError(explain(thrown, request, log), request, reply))
}

export function explain(thrown: unknown, request: FastifyRequest, log: CallLog): GateError {
  const fields = { request_id: request.id, method: request.method, path: request.url.split('?', 1)[0] }
  const error = thrown instanceof GateError ? thrown : fromFastify(thrown)
  if (error.code === 'internal_error') log.error({ ...fields, error: thrown }, 'request failed on our side')
  else log.info({ ...fields, outcome: error.code }, 'request refused')
  return error
}

/** Fastify names its refusals by code; any other error is ours and tells nothing of the inside. */
function fromFastify(thrown: unknown): GateError {
  const { code, statusCode, message } = thrown as { code?: unknown; statusCode?: unknown; message?: unknown }
  const known = typeof code === 'string' ? REFUSALS[code] : undefined
  if (known) return new GateError(known.code, known.message, {}, { cause: thrown })
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new GateError(
      'invalid_input',
      `The request is not valid: ${String(message)}.`,
      {},
      { cause: thrown },
    )
  }
  return new GateError(
    'internal_error',
    'Something went wrong on the server. Report the request id.',
    {},
    { cause: thrown },
  )
}

const REFUSALS: Readonly<Record<string, { code: ErrorCode; message: string }>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'unsupported_media_type',
    message: 'Send the body as JSON with the header "Content-Type: application/json".',
  },
  FST_ERR_CTP_BODY_TOO_LARGE: {
    code: 'payload_too_large',
    message:
      'The body is larger than 32 MiB. Send less at a time, or keep large data elsewhere and send a pointer.',
  },
  FST_ERR_BAD_URL: { code: 'invalid_input', message: 'The URL is not valid. Percent-encode it as UTF-8.' },
}

function refuseUnknownRoutes(app: FastifyInstance): void {
  const known: { pattern: RegExp; methods: string[] }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    known.push({ pattern: new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`), methods: [method].flat() })
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) done(refusal(request, reply))
    else done()
  })

  function refusal(request: FastifyRequest, reply: FastifyReply): GateError {
    const path = request.url.split('?', 1)[0]!
    const methods = known.filter(({ pattern }) => pattern.test(path)).flatMap((route) => route.methods)
    const what = `${request.method} ${path.slice(0, 200)}`
    if (methods.length === 0)
      return new GateError('not_found', `There is no ${what}. GET /docs lists what there is.`)
    const allow = [...new Set(methods)].join(', ')
    reply.header('allow', allow)
    return new GateError('method_not_allowed', `${what} cannot be called. Use ${allow}.`)
  }
}

/** Errors before routing: no hook has run yet. */
export function createFrameworkErrorHandler(anonymous: Shown) {
  return (error: Error, request: FastifyRequest, reply: FastifyReply): void => {
    reply.header('x-request-id', request.id).headers(SECURITY_HEADERS)
    setRateHeaders(reply, anonymous)
    void sendError(fromFastify(error), request, reply)
  }
}

/** What is not even HTTP: the socket is all there is to answer on. */
export function createClientErrorHandler(ids: { next(): string }, anonymous: Shown) {
  const always = Object.entries({ ...SECURITY_HEADERS, ...rateHeaders(anonymous) })
  return (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const status = CLIENT_ERROR_STATUS[error.code ?? ''] ?? 400
    const requestId = ids.next()
    const refusal = new GateError('invalid_input', `The request is not valid HTTP: ${STATUS_CODES[status]}.`)
    const body = JSON.stringify({ ...refusal.body(), request_id: requestId })
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      ...always.map(([name, value]) => `${name}: ${value}`),
      'Connection: close',
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  }
}

const CLIENT_ERROR_STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}
