// Web pages of other origins may call only where the operator has named them, and then with a key of their own: no cookie
// of a visitor is ever sent along.
import type { FastifyInstance } from 'fastify'

const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, POST, PUT',
  'access-control-allow-headers':
    'authorization, content-type, x-api-key, x-request-id, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id',
  'access-control-max-age': '600',
} as const

const EXPOSED =
  'x-request-id, retry-after, www-authenticate, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, x-ratelimit-bucket, repr-digest'

/** Before the routes are looked at: none of them answers OPTIONS. */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  const allowed = new Set(origins)
  app.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers
    reply.header('vary', 'origin')
    if (origin === undefined || !allowed.has(origin)) return done()
    reply.header('access-control-allow-origin', origin)
    reply.header('access-control-expose-headers', EXPOSED)
    reply.header('cross-origin-resource-policy', 'cross-origin')
    const isPreflight =
      request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
    if (isPreflight) void reply.code(204).headers(PREFLIGHT_HEADERS).send()
    else done()
  })
}
