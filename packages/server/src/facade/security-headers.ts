// Headers that every reply carries whatever it says. What the server answers is data: nothing of it is to be run, framed,
// guessed at or shared, and no address of it told to others. Its own pages allow themselves a little more (pages.ts).
import type { FastifyInstance } from 'fastify'

export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
} as const

/** Two years, as browsers ask for where a name is to be reached by TLS alone. */
const HSTS = 'max-age=63072000; includeSubDomains'

export interface SecurityHeaders {
  /** Our own TLS. */
  readonly isTls: boolean
  /** Then X-Forwarded-Proto, which a proxy of ours has set, is to be believed. */
  readonly hasProxies: boolean
}

export function addSecurityHeaders(app: FastifyInstance, { isTls, hasProxies }: SecurityHeaders): void {
  // Hooks of every request take a callback: a promise for each, and the turn it takes, would cost more than they do.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).headers(SECURITY_HEADERS)
    if (isTls || (hasProxies && request.protocol === 'https')) reply.header('strict-transport-security', HSTS)
    done()
  })
}
