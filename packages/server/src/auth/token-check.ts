// From an access token to who calls. The signature is checked here, with keys that this process has; then one row says whether
// the grant, its account and its tenant still stand. What was found is trusted for half a minute, as for keys, so that an end is
// effective everywhere within a minute. Rights follow from the account as it is now, within the scopes of the token.
import { GateError, type Scope } from '@asyncgate/sdk'
import { type JWSHeaderParameters, type JWTPayload, jwtVerify } from 'jose'
import type { Clock } from '../clock.ts'
import type { Random } from '../ids.ts'
import type { OAuthStore } from '../store/oauth.ts'
import { artifactKey } from './artifact-key.ts'
import type { Caller } from './caller.ts'
import { tenantSuspended } from './credential.ts'
import { createLatest } from './latest.ts'
import { createMarks } from './marks.ts'
import { DEFAULT_SCOPES } from './roles.ts'
import { ALGORITHM, type SigningKeys } from './signing-keys.ts'

export type TokenCheck = (text: string) => Promise<Caller>

const TRUST_MS = 30_000
const KNOWN_MAX = 10_000
const CLAIMS = ['sub', 'tenant_id', 'principal_kind', 'principal_id', 'grant_id', 'iss', 'aud', 'exp', 'iat']

interface Known {
  readonly caller: Caller
  readonly isTenantSuspended: boolean
  readonly expiresAt: number
  readonly readAt: number
}

export interface TokenCheckParts {
  readonly store: Pick<OAuthStore, 'findGrant'>
  readonly keys: Pick<SigningKeys, 'publicKey'>
  readonly clock: Pick<Clock, 'now'>
  readonly random: Random
  readonly issuer: string
  /** The names of this server as a resource: a token for another is none for us. */
  readonly audiences: readonly string[]
}

/** The form of a JWT: what else there is looks otherwise. */
export function isToken(text: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text)
}

export function createTokenCheck(parts: TokenCheckParts): TokenCheck {
  const { store, keys, clock, random, issuer, audiences } = parts
  const markOf = createMarks(random)
  const known = createLatest<Known>(KNOWN_MAX)

  async function keyOf({ kid }: JWSHeaderParameters) {
    const key = typeof kid === 'string' ? await keys.publicKey(kid) : null
    if (key === null) throw notValid()
    return key
  }

  async function verify(text: string, now: number): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(text, keyOf, {
        algorithms: [ALGORITHM],
        typ: 'at+jwt',
        issuer,
        audience: [...audiences],
        currentDate: new Date(now),
        requiredClaims: CLAIMS,
      })
      return payload
    } catch (error) {
      if (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_J'))
        throw notValid()
      throw error
    }
  }

  async function lookUp(text: string, now: number): Promise<Known> {
    const payload = await verify(text, now)
    const grant = await store.findGrant(artifactKey('Grant', String(payload['grant_id'])))
    if (grant === null || grant.expiresAt <= now || grant.isClientRevoked) throw notValid()
    const { account } = grant
    if (account.disabledAt !== null || account.accountId !== payload.sub) throw notValid()
    const { tenantId, principal, role, isTenantSuspended } = account
    const { scope: given } = payload
    const wanted = new Set(typeof given === 'string' ? given.split(' ') : [])
    const scopes = new Set<Scope>(DEFAULT_SCOPES[role].filter((scope) => wanted.has(scope)))
    const speaksForAll = scopes.has('admin:write')
    const caller: Caller = { tenantId, principal, role, scopes, speaksForAll, canAskForMore: true }
    return { caller, isTenantSuspended, expiresAt: payload.exp! * 1_000, readAt: now } // required above
  }

  return async (text) => {
    const mark = markOf(text)
    const now = clock.now()
    let found = known.get(mark)
    if (found === undefined || found.readAt > now || now - found.readAt >= TRUST_MS) {
      known.delete(mark)
      found = await lookUp(text, now)
      known.set(mark, found)
    }
    if (found.expiresAt <= now) throw notValid()
    if (found.isTenantSuspended) throw tenantSuspended(found.caller)
    return found.caller
  }
}

/** The same words whatever is wrong with it: who forges one learns nothing. */
function notValid(): GateError {
  const message =
    'The access token is not valid: it is not one of this server, has expired or was revoked. Sign in again.'
  return new GateError('unauthenticated', message)
}
