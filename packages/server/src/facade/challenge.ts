// WWW-Authenticate: how a client that was refused finds its way by itself. Where nobody signs in, a key is all there is to ask
// for.
import { ERRORS, type GateError, type Scope, SCOPES } from '@asyncgate/sdk'
import type { FastifyReply } from 'fastify'
import { metadataUrl } from './oauth/resources.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The address of the authorization server; null where nobody signs in. */
    issuer: string | null
  }
}

export function setChallenge({ status, details }: GateError, reply: FastifyReply): void {
  const { request } = reply
  const { issuer } = request.server
  const isUnknown = status === ERRORS.unauthenticated.status
  const required = details['required_scope']
  if (issuer === null) {
    if (isUnknown) reply.header('www-authenticate', 'Bearer')
    return
  }
  const resource = `resource_metadata="${metadataUrl(request.url.split('?', 1)[0]!, issuer)}"`
  if (isUnknown) {
    const error = request.headers.authorization === undefined ? '' : 'error="invalid_token", '
    reply.header('www-authenticate', `Bearer ${error}${resource}`)
  } else if (status === ERRORS.forbidden.status && typeof required === 'string') {
    const scope = `scope="${scopesToAsk(required, request.caller?.scopes).join(' ')}"`
    reply.header('www-authenticate', `Bearer error="insufficient_scope", ${scope}, ${resource}`)
  }
}

/** With what it has: a client that asks for these alone loses nothing. */
function scopesToAsk(required: string, held: ReadonlySet<Scope> | undefined): Scope[] {
  return SCOPES.filter((scope) => scope === required || held?.has(scope) === true)
}
