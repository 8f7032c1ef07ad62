// Who sends a request, and from where; a credential that will not do is refused and written down.
import { GateError } from '@asyncgate/sdk'
import type { FastifyRequest } from 'fastify'
import { type Caller, DEFAULT_TENANT } from '../auth/caller.ts'
import type { Authenticate } from '../auth/credential.ts'
import type { Audit, Origin } from './audit.ts'

export type Identify = (request: FastifyRequest) => Promise<Caller>

interface IdentifyParts {
  readonly authenticate: Authenticate
  readonly audit: Pick<Audit, 'note'>
}

export function createIdentify({ authenticate, audit }: IdentifyParts): Identify {
  return async (request) => {
    try {
      return await authenticate(request.headers)
    } catch (error) {
      if (error instanceof GateError && (error.status === 401 || error.status === 403)) {
        audit.note({
          event: 'authentication.failed',
          // Whose the credential would be is not known: it is the operators' business.
          tenantId: DEFAULT_TENANT,
          principal: null,
          origin: originOf(request),
          requestId: request.id,
          reason: error.message,
        })
      }
      throw error
    }
  }
}

export function originOf({ ip, headers }: FastifyRequest): Origin {
  return { ip, userAgent: headers['user-agent'] ?? null }
}
