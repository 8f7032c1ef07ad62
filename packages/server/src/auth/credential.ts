// The credential of a request, wherever it stands, and the refusal of one that will not do.
import type { IncomingHttpHeaders } from 'node:http'
import { GateError } from '@asyncgate/sdk'
import type { Caller } from './caller.ts'

/** From a credential to who calls; throws `unauthenticated`. */
export type Authenticate = (headers: IncomingHttpHeaders) => Caller | Promise<Caller>

export function credentialOf(headers: IncomingHttpHeaders): string | null {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  if (bearer !== undefined) return bearer
  const plain = headers['x-api-key']
  return typeof plain === 'string' && plain !== '' ? plain : null
}

export function unauthenticated(reason: string): GateError {
  const fix = 'Send a key of this server as "Authorization: Bearer <key>" or "X-API-Key: <key>".'
  return new GateError('unauthenticated', `${reason} ${fix}`)
}

export function tenantSuspended({ tenantId, role }: Caller): GateError {
  const message = `The tenant ${tenantId} is suspended. Ask the operator of this server.`
  return new GateError('forbidden', message, { your_role: role })
}
