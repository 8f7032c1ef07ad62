// Who sends a request, from where, and whether it may call just now; what is refused is written down.
import { type AuditEvent, GateError } from '@asyncgate/sdk'
import type { FastifyRequest } from 'fastify'
import { type Caller, DEFAULT_TENANT } from '../auth/caller.ts'
import { type Authenticate, credentialOf } from '../auth/credential.ts'
import type { FailedLogins } from '../limits/failed-logins.ts'
import { type Admission, type Limiter, RateLimited } from '../limits/limiter.ts'
import type { Audit, Origin } from './audit.ts'

export type Identify = (request: FastifyRequest) => Promise<Caller>

declare module 'fastify' {
  interface FastifyRequest {
    /** What its caller has left to spend; null before it is known who calls. */
    admission: Admission | null
  }
}

export interface IdentifyParts {
  readonly authenticate: Authenticate
  readonly audit: Pick<Audit, 'note'>
  readonly failedLogins: Pick<FailedLogins, 'check' | 'refusal'>
  readonly limiter: Pick<Limiter, 'admit'>
}

/** Writes down that a request was refused before it was a call. Whose it would be is often not known: then it is the operators' business. */
export type NoteRefusal = (
  request: FastifyRequest,
  error: GateError,
  facts: { readonly event: AuditEvent; readonly caller?: Caller | null },
) => void

export function createNoteRefusal(audit: Pick<Audit, 'note'>): NoteRefusal {
  return (request, error, { event, caller = null }) =>
    audit.note({
      event,
      tenantId: caller?.tenantId ?? DEFAULT_TENANT,
      principal: caller?.principal ?? null,
      origin: originOf(request),
      requestId: request.id,
      reason: error.message,
    })
}

export function createIdentify(
  { authenticate, failedLogins, limiter }: IdentifyParts,
  note: NoteRefusal,
): Identify {
  return async (request) => {
    let caller: Caller | null = null
    try {
      const { headers, ip } = request
      const found = failedLogins.check(ip, () => authenticate(headers))
      caller = found instanceof Promise ? await found : found
      const admitted = limiter.admit(caller)
      request.admission = admitted instanceof Promise ? await admitted : admitted
      return caller
    } catch (thrown) {
      const error = isGuess(thrown, request) ? failedLogins.refusal(request.ip, thrown) : thrown
      if (error instanceof RateLimited) request.admission = { shown: error.shown, isUsed: true }
      if (error instanceof GateError && NOTED.has(error.status)) {
        const isLimit = error.code === 'rate_limit_exceeded'
        note(request, error, { event: isLimit ? 'rate_limit.exceeded' : 'authentication.failed', caller })
      }
      throw error
    }
  }
}

/** Who sends no credential does not guess. */
function isGuess(thrown: unknown, { headers }: FastifyRequest): thrown is GateError {
  return thrown instanceof GateError && thrown.code === 'unauthenticated' && credentialOf(headers) !== null
}

const NOTED = new Set([401, 403, 429])

export function originOf({ ip, headers }: FastifyRequest): Origin {
  return { ip, userAgent: headers['user-agent'] ?? null }
}
