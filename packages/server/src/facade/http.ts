// The HTTP server: what every route shares (request ids, bodies, errors, signals, guards), and on it REST, the
// pages about the server itself, and MCP.
import { GateError } from '@asyncgate/sdk'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import type { AddressLimit } from '../limits/address-limit.ts'
import { type Limiter, RateLimited } from '../limits/limiter.ts'
import { cutOffSlowBodies, cutOffUnreadBodies, takeJsonBodies } from './bodies.ts'
import { allowOrigins } from './cors.ts'
import type { CallLog, Dispatch } from './dispatch.ts'
import type { HostGuard } from './host-guard.ts'
import { answerErrors, createClientErrorHandler, createFrameworkErrorHandler } from './http-errors.ts'
import { createNoteRefusal, createIdentify, type IdentifyParts, type NoteRefusal } from './identify.ts'
import { mountMcp } from './mcp/http.ts'
import { mountPages, type Vitals } from './pages.ts'
import { setRateHeaders } from './rate-headers.ts'
import { requestIdOf } from './request-id.ts'
import { mountRest } from './rest.ts'
import { mountContent } from './rest-content.ts'
import { addSecurityHeaders } from './security-headers.ts'
import { createSignals } from './signals.ts'
import type { TlsFiles } from './tls.ts'

/** A batch of 1000 tasks with sizeable payloads fits; a single payload has its own, smaller limit. */
export const BODY_BYTES_MAX = 32 * 1_048_576
/** A client that trickles bytes must not hold a socket for ever. */
export interface Patience {
  /** To receive the head of a request, and the whole of it. */
  readonly headMs: number
  readonly requestMs: number
  /** The same for content of any size: an hour for a gibibyte is 300 kB a second. */
  readonly contentMs: number
  /** Nothing moves on the connection; longer than any call is held. */
  readonly silenceMs: number
  readonly checkEveryMs: number
}

const PATIENCE: Patience = {
  headMs: 15_000,
  requestMs: 120_000,
  contentMs: 3_600_000,
  silenceMs: 120_000,
  checkEveryMs: 5_000,
}
/** Of all headers together; more is answered 431. */
const HEADER_BYTES_MAX = 16_384
/** Longer than any id; what is longer is nobody's path. */
const PATH_FIELD_LENGTH_MAX = 1_000

export interface HttpParts extends Vitals, IdentifyParts {
  readonly dispatch: Dispatch
  readonly limiter: Pick<Limiter, 'admit' | 'anonymous'>
  readonly signIns: Pick<AddressLimit, 'admit'>
  /** Always applied to MCP; to everything where no credential stands between a web page and the server. */
  readonly hostGuard: HostGuard
  /** Applied to everything else. */
  readonly originGuard: HostGuard
  readonly corsOrigins?: readonly string[]
  readonly trustedProxies?: readonly string[]
  readonly tls?: TlsFiles | null
  readonly patience?: Patience
  readonly asksForCredentials: boolean
  /** Absent where nobody signs in. */
  readonly oauth?: { readonly issuer: string; readonly mount: (app: FastifyInstance) => void }
  readonly toolNames: 'underscore' | 'dotted'
  readonly version: string
  readonly ids: { next(): string }
  readonly log: CallLog
  /** See mcp/http.ts. */
  readonly answersPlainCalls?: boolean
}

export function createHttp(parts: HttpParts): FastifyInstance {
  const { ids, log, tls = null, trustedProxies = [], corsOrigins = [], limiter } = parts
  const { headMs, requestMs, contentMs, silenceMs, checkEveryMs } = parts.patience ?? PATIENCE
  const receiving = {
    headersTimeout: headMs,
    connectionsCheckingInterval: checkEveryMs,
    maxHeaderSize: HEADER_BYTES_MAX,
  }
  const options = {
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: contentMs,
    connectionTimeout: silenceMs,
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    routerOptions: { maxParamLength: PATH_FIELD_LENGTH_MAX },
    genReqId: (request: Pick<FastifyRequest, 'headers'>) => requestIdOf(request.headers, ids),
    return503OnClosing: false, // in our own words: see refuseWhileStopping
    frameworkErrors: createFrameworkErrorHandler(limiter.anonymous),
    clientErrorHandler: createClientErrorHandler(ids, limiter.anonymous),
  }
  const app =
    tls === null
      ? fastify({ ...options, http: receiving })
      : // The same to all that is built on it, whether TLS is below or not.
        (fastify({ ...options, https: { ...tls, ...receiving } }) as unknown as FastifyInstance)
  addSecurityHeaders(app, { isTls: tls !== null, hasProxies: trustedProxies.length > 0 })
  app.decorate('issuer', parts.oauth?.issuer ?? null)
  app.decorateRequest('admission', null)
  app.addHook('onSend', (request, reply, _payload, done) => {
    setRateHeaders(reply, request.admission?.shown ?? limiter.anonymous)
    done()
  })
  refuseWhileStopping(app)
  allowOrigins(app, corsOrigins)
  answerErrors(app, log)
  const noteRefusal = createNoteRefusal(parts.audit)
  const guard = parts.asksForCredentials ? parts.originGuard : parts.hostGuard
  app.addHook('onRequest', (request, _reply, done) => {
    const noteAs = (error: GateError) => noteRefusal(request, error, { event: 'authorization.failed' })
    done(refusalOf(() => guard(request.headers), noteAs))
  })
  takeJsonBodies(app)
  cutOffSlowBodies(app, requestMs)
  cutOffUnreadBodies(app, requestMs)
  const signals = createSignals(app)
  const identify = createIdentify(parts, noteRefusal)
  mountRest(app, { ...parts, identify, signals })
  mountContent(app, { ...parts, identify, signals })
  mountPages(app, { ...parts, identify })
  mountMcp(app, { ...parts, identify, signals, noteRefusal })
  mountSigningIn(app, parts, noteRefusal)
  return app
}

/**
 * Connections that wait to be taken in; the system may allow fewer. After a restart thousands of workers come at once: with
 * Node's own 511, the queue overflowed when ten thousand did, and one of them was seen to be reset.
 */
const BACKLOG = 4_096

/** Gives the address. */
export function listen(
  app: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  return app.listen({ host, port, backlog: BACKLOG })
}

function refusalOf(check: () => void, noteAs: (error: GateError) => void): GateError | undefined {
  try {
    check()
    return undefined
  } catch (thrown) {
    const error = thrown as GateError // guards and limits throw nothing else
    noteAs(error)
    return error
  }
}

/** Strangers come here, so that the address is all there is to hold to a limit. */
function mountSigningIn(app: FastifyInstance, { oauth, signIns }: HttpParts, note: NoteRefusal): void {
  if (oauth === undefined) return
  void app.register(async (scope) => {
    scope.addHook('onRequest', (request, reply, done) => {
      const admit = () => {
        request.admission = { shown: signIns.admit(request.ip), isUsed: true }
      }
      const noteAs = (error: GateError) => note(request, error, { event: 'rate_limit.exceeded' })
      const refusal = refusalOf(admit, noteAs)
      if (refusal instanceof RateLimited) request.admission = { shown: refusal.shown, isUsed: true }
      else setRateHeaders(reply, request.admission!.shown) // now: the library's replies pass the usual hook by
      done(refusal)
    })
    oauth.mount(scope)
  })
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
