// OAuth on the HTTP server: the library's endpoints, the pages for signing in, and where clients find all that.
import { SCOPES } from '@asyncgate/sdk'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { originOf } from '../identify.ts'
import { METADATA_PATH } from './authorization-server.ts'
import {
  createInteractions,
  inInteraction,
  type InteractionParts,
  type Interactions,
  showEnd,
  textsOf,
} from './interaction.ts'
import { withFacts } from './request-facts.ts'
import { metadataPath, resourcesOf } from './resources.ts'

export interface OAuthParts extends InteractionParts {
  readonly issuer: string
}

/** A form of ours has four fields. */
const FORM_BYTES_MAX = 16_384
const FORM = 'application/x-www-form-urlencoded'

/** [method, path] of what the library answers itself. */
const ENDPOINTS = [
  ['GET', '/oauth/authorize'],
  ['GET', '/oauth/authorize/:uid'],
  ['POST', '/oauth/token'],
  ['POST', '/oauth/revoke'],
  ['POST', '/oauth/session/end/confirm'],
  ['GET', '/oauth/jwks'],
  ['GET', METADATA_PATH],
] as const

export function mountOAuth(app: FastifyInstance, parts: OAuthParts): void {
  mountResourceMetadata(app, parts.issuer)
  // Each in a context of its own: what bodies are taken differs, and nothing else on the server takes forms.
  void app.register(async (scope) => mountEndpoints(scope, parts))
  void app.register(async (scope) => mountInteractions(scope, parts))
}

function mountEndpoints(app: FastifyInstance, { server, issuer }: OAuthParts): void {
  app.removeAllContentTypeParsers()
  // The library reads the body itself, up to a limit of its own (56 KiB).
  app.addContentTypeParser('*', (_request, _body, done) => done(null))
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const running = await server()
    await speakOf(issuer, request, reply)
    reply.hijack()
    const facts = { origin: originOf(request), requestId: request.id, account: null, refusal: null }
    await withFacts(facts, () => running.answer(request.raw, reply.raw))
  }
  for (const [method, url] of ENDPOINTS) app.route({ method, url, exposeHeadRoute: false, handler: answer })
}

/**
 * Addresses are made from what a request says of itself. It is made to say what is configured, whoever sent it by whatever
 * name; headers that others have set go out with the library's.
 */
async function speakOf(issuer: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { protocol, host } = new URL(issuer)
  const { headers } = request.raw
  headers.host = host
  headers['x-forwarded-proto'] = protocol.slice(0, -1)
  headers['x-forwarded-for'] = request.ip
  delete headers['x-forwarded-host']
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value)
  }
}

function mountInteractions(app: FastifyInstance, parts: OAuthParts): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    FORM,
    { parseAs: 'string', bodyLimit: FORM_BYTES_MAX },
    async (_request: FastifyRequest, body: string) => Object.fromEntries(new URLSearchParams(body)),
  )
  app.addHook('onRequest', async (request, reply) => {
    await speakOf(parts.issuer, request, reply)
    if (isFromElsewhere(request, parts.issuer)) return showEnd(reply)
    return undefined
  })
  const steps = createInteractions(parts)
  const base = '/oauth/interaction/:uid'
  const form = (name: keyof Interactions, promptName?: 'login' | 'consent') =>
    inInteraction(parts, steps[name], { isForm: true, ...(promptName && { promptName }) })
  app.get(base, { exposeHeadRoute: false }, inInteraction(parts, steps.show, { isForm: false }))
  app.post(`${base}/login`, form('signIn', 'login'))
  app.post(`${base}/consent`, form('consent', 'consent'))
  app.post(`${base}/cancel`, form('cancel'))
  if (parts.upstream === null) return
  app.post(`${base}/upstream`, form('goUpstream', 'login'))
  app.get(
    `${base}/upstream`,
    { exposeHeadRoute: false },
    inInteraction(parts, steps.comeBack, { isForm: false, promptName: 'login' }),
  )
  mountCallback(app, parts)
}

/** The cookie of the interaction is for its own path: there the browser shows that it is the one that began. */
function mountCallback(app: FastifyInstance, { upstream }: OAuthParts): void {
  app.get('/oauth/callback', { exposeHeadRoute: false }, async (request, reply) => {
    const { state = '', code = '' } = textsOf(request.query)
    const uid = (await upstream?.interactionOf(state)) ?? null
    if (uid === null) return showEnd(reply)
    const query = new URLSearchParams({ state, code }).toString()
    return reply.redirect(`/oauth/interaction/${encodeURIComponent(uid)}/upstream?${query}`, 303)
  })
}

/** Only our own pages post here. Browsers say where a form comes from; who says nothing is no browser. */
function isFromElsewhere({ method, headers }: FastifyRequest, issuer: string): boolean {
  return method === 'POST' && headers.origin !== undefined && headers.origin !== issuer
}

/** RFC 9728, for the server and for its MCP address. */
function mountResourceMetadata(app: FastifyInstance, issuer: string): void {
  for (const resource of resourcesOf(issuer)) {
    const metadata = {
      resource,
      authorization_servers: [issuer],
      scopes_supported: SCOPES,
      bearer_methods_supported: ['header'],
      resource_name: 'AsyncGate',
    }
    app.get(metadataPath(resource, issuer), async (_request, reply) =>
      reply
        .header('access-control-allow-origin', '*')
        .header('cache-control', 'public, max-age=3600')
        .send(metadata),
    )
  }
}
