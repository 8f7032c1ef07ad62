// The HTTP server: what every route shares (request ids, bodies, errors, signals, guards), and on it REST, the
// pages about the server itself, and MCP.
import { GateError } from '@asyncgate/sdk'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import type { Authenticate } from '../auth/credential.ts'
import type { Audit } from './audit.ts'
import type { CallLog, Dispatch } from './dispatch.ts'
import type { HostGuard } from './host-guard.ts'
import { answerErrors, answerFrameworkError, createClientErrorHandler } from './http-errors.ts'
import { createIdentify } from './identify.ts'
import { mountMcp } from './mcp/http.ts'
import { mountPages, type Vitals } from './pages.ts'
import { readJson } from './read-json.ts'
import { requestIdOf } from './request-id.ts'
import { mountRest } from './rest.ts'
import { mountContent } from './rest-content.ts'
import { createSignals } from './signals.ts'

/** A batch of 1000 tasks with sizeable payloads fits; a single payload has its own, smaller limit. */
export const BODY_BYTES_MAX = 32 * 1_048_576
/** Longest time to receive one request: a client that trickles bytes must not hold a socket for ever. */
const RECEIVE_MS_MAX = 120_000
/** The same for content of any size: an hour for a gibibyte is 300 kB a second. */
const RECEIVE_CONTENT_MS_MAX = 3_600_000
/** Longer than any id; what is longer is nobody's path. */
const PATH_FIELD_LENGTH_MAX = 1_000

export interface HttpParts extends Vitals {
  readonly dispatch: Dispatch
  readonly authenticate: Authenticate
  readonly audit: Pick<Audit, 'note'>
  /** Always applied to MCP; to everything where no credential stands between a web page and the server. */
  readonly hostGuard: HostGuard
  readonly asksForCredentials: boolean
  readonly toolNames: 'underscore' | 'dotted'
  readonly version: string
  readonly ids: { next(): string }
  readonly log: CallLog
  /** See mcp/http.ts. */
  readonly answersPlainCalls?: boolean
}

export function createHttp(parts: HttpParts): FastifyInstance {
  const { ids, log } = parts
  const app = fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: RECEIVE_CONTENT_MS_MAX,
    routerOptions: { maxParamLength: PATH_FIELD_LENGTH_MAX },
    genReqId: (request) => requestIdOf(request.headers, ids),
    return503OnClosing: false, // in our own words: see refuseWhileStopping
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: createClientErrorHandler(ids),
  })
  // Hooks of every request take a callback: a promise for each, and the turn it takes, would cost more than they do.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff')
    done()
  })
  refuseWhileStopping(app)
  answerErrors(app, log)
  if (!parts.asksForCredentials) app.addHook('onRequest', async ({ headers }) => parts.hostGuard(headers))
  takeJsonBodies(app)
  cutOffSlowBodies(app)
  const signals = createSignals(app)
  const identify = createIdentify(parts)
  mountRest(app, { ...parts, identify, signals })
  mountContent(app, { ...parts, identify, signals })
  mountPages(app, { ...parts, identify })
  mountMcp(app, { ...parts, identify, signals })
  return app
}

/** Bodies that are read as a whole must be there in time; the server's own limit is that for streamed content. */
function cutOffSlowBodies(app: FastifyInstance): void {
  app.addHook('preParsing', ({ raw, routeOptions }, _reply, payload, done) => {
    const hasBody =
      raw.headers['content-length'] !== undefined || raw.headers['transfer-encoding'] !== undefined
    if (hasBody && !routeOptions.config.isStreamed) {
      const timer = setTimeout(() => raw.destroy(), RECEIVE_MS_MAX).unref()
      raw.once('close', () => clearTimeout(timer))
    }
    done(null, payload)
  })
}

/** `application/json` and nothing else: a form post from a web page must not be taken for a call. */
function takeJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async ({ headers }: FastifyRequest, body: Buffer) => {
      const encoding = headers['content-encoding'] ?? 'identity'
      if (encoding === 'identity') return readJson(body)
      const message = `Bodies are taken as they are, not as ${encoding}. Leave Content-Encoding out.`
      throw new GateError('unsupported_media_type', message)
    },
  )
}

function refuseWhileStopping(app: FastifyInstance): void {
  let isStopping = false
  app.addHook('preClose', async () => {
    isStopping = true
  })
  app.addHook('onRequest', (_request, _reply, done) => {
    if (!isStopping) done()
    else done(new GateError('database_unavailable', 'The server is stopping. Repeat the call in a moment.'))
  })
  // What was under way is answered, and its connection not kept: an idle one would hold up the stop.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isStopping) reply.header('connection', 'close')
    done()
  })
}
