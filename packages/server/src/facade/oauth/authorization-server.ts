// The authorization server as it is now: made again when the signing keys change, since the library takes them once. All that it
// remembers is in the store, so that one follows the other without anybody noticing.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { SCOPES } from '@asyncgate/sdk'
import type { Provider } from 'oidc-provider'
import type { KeySet, SigningKeys } from '../../auth/signing-keys.ts'
import type { Audit } from '../audit.ts'
import { createProvider, type ProviderParts, USUAL_SCOPES } from './provider.ts'
import { auditTokens } from './token-audit.ts'

export interface AuthorizationServerParts extends ProviderParts {
  readonly keys: Pick<SigningKeys, 'current'>
  readonly audit: Audit
}

export interface Running {
  readonly provider: Provider
  readonly answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>
}

export type AuthorizationServer = () => Promise<Running>

export function createAuthorizationServer(parts: AuthorizationServerParts): AuthorizationServer {
  let last: { readonly keySet: KeySet; readonly running: Running } | null = null
  return async () => {
    const keySet = await parts.keys.current()
    if (last === null || !isSame(last.keySet, keySet)) last = { keySet, running: make(parts, keySet) }
    return last.running
  }
}

function isSame(a: KeySet, b: KeySet): boolean {
  return a.keys.map(({ kid }) => kid).join() === b.keys.map(({ kid }) => kid).join()
}

function make(parts: AuthorizationServerParts, keySet: KeySet): Running {
  const provider = createProvider(parts, keySet)
  auditTokens(provider, parts.audit)
  provider.use(async (ctx, next) => {
    if (ctx.path === '/oauth/authorize' && ctx.method === 'GET' && !ctx.query['scope'])
      ctx.query = { ...ctx.query, scope: USUAL_SCOPES.join(' ') }
    await next()
    if (ctx.path === METADATA_PATH && ctx.method === 'GET') ctx.body = ours(ctx.body as Metadata)
  })
  return { provider, answer: provider.callback() }
}

export const METADATA_PATH = '/.well-known/oauth-authorization-server'

type Metadata = Readonly<Record<string, unknown>>

/** Of the library's metadata what is of OAuth: there are no ID tokens here. */
const OF_OPENID = /^(claims?_|claim_|id_token_|subject_types|acr_|request_|require_|userinfo_|end_session)/

function ours(metadata: Metadata): Metadata {
  const kept = Object.entries(metadata).filter(([name]) => !OF_OPENID.test(name))
  return { ...Object.fromEntries(kept), scopes_supported: SCOPES, response_modes_supported: ['query'] }
}
