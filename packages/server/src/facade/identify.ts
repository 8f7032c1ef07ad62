// Who sends a request, from where, and whether it may call just now; what is refused is written down.
import { type AuditEvent, GateError } from '@asyncgate/sdk'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { type Caller, DEFAULT_TENANT } from '../auth/caller.ts'
import { type Authenticate, credentialOf } from '../auth/credential.ts'
import type { FailedLogins } from '../limits/failed-logins.ts'
import { type Admission, type Limiter, RateLimited } from '../limits/limiter.ts'
import type { Audit, Origin } from './audit.ts'

/** At once for a credential that is known and not limited, as nearly all are. */
export type Identify = (request: FastifyRequest) => Caller | Promise<Caller>

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
  function admit(request: FastifyRequest, caller: Caller): Caller | Promise<Caller> {
    const keep = (admission: Admission) => {
      request.admission = admission
      return caller
    }
    const admitted = limiter.admit(caller)
    return admitted instanceof Promise ? admitted.then(keep) : keep(admitted)
  }

  function refuse(request: FastifyRequest, caller: Caller | null, thrown: unknown): never {
    const error = isGuess(thrown, request) ? failedLogins.refusal(request.ip, thrown) : thrown
    if (error instanceof RateLimited) request.admission = { shown: error.shown, isUsed: true }
    if (error instanceof GateError && NOTED.has(error.status)) {
      const isLimit = error.code === 'rate_limit_exceeded'
      note(request, error, { event: isLimit ? 'rate_limit.exceeded' : 'authentication.failed', caller })
    }
    throw error
  }

  return (request) => {
    let caller: Caller | null = null
    const admitFound = (found: Caller) => admit(request, (caller = found))
    try {
      const found = failedLogins.check(request.ip, () => authenticate(request.headers))
      const admitted = found instanceof Promise ? found.then(admitFound) : admitFound(found)
      if (!(admitted instanceof Promise)) return admitted
      return admitted.catch((thrown: unknown) => refuse(request, caller, thrown))
    } catch (thrown) {
      return refuse(request, caller, thrown)
    }
  }
}

/** The step of a route that needs a caller, before the body is read. */
export function identifyFirst(identify: Identify): onRequestHookHandler {
  return (request, _reply, goOn) => {
    const keep = (caller: Caller) => {
      request.caller = caller
      goOn()
    }
    const found = identify(request)
    if (found instanceof Promise) found.then(keep, goOn)
    else keep(found)
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
