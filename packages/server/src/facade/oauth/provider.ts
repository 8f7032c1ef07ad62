// The authorization server: the certified library, told what we allow. Code with PKCE (S256) and refresh tokens that are used
// once, and nothing else of all that it can do.
import type { EventEmitter } from 'node:events'
import { isRedirectUri, SCOPES } from '@asyncgate/sdk'
import {
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider'
import { canSignIn } from '../../auth/login.ts'
import { deriveKey } from '../../auth/seal.ts'
import { ALGORITHM, type KeySet } from '../../auth/signing-keys.ts'
import type { FoundAccount } from '../../store/accounts.ts'
import { type AdapterParts, createAdapterFactory } from './adapter.ts'
import { createDocumentFetch, type Get } from './client-document.ts'
import { errorPage } from './pages.ts'
import { resourcesOf } from './resources.ts'

const DAY_SECONDS = 86_400
const MINUTE_SECONDS = 60

/** Asked for by a client that asks for nothing in particular: all but administration. */
export const USUAL_SCOPES = SCOPES.filter((scope) => !scope.startsWith('admin:'))

export interface ProviderSettings {
  readonly issuer: string
  readonly secret: string
  readonly accessTokenDays: number
  readonly refreshTokenDays: number
}

export interface ProviderParts extends AdapterParts {
  readonly settings: ProviderSettings
  readonly get: Get
  readonly onDefect: (error: unknown) => void
}

export function createProvider(parts: ProviderParts, keySet: KeySet): Provider {
  const { issuer } = parts.settings
  const provider = new Provider(issuer, configurationOf(parts, keySet))
  // What a request says about its address is not believed: see mount.ts, which writes these headers.
  provider.proxy = true
  // Koa's own event, which the types of the library leave out; without a listener it would write to the console.
  ;(provider as unknown as EventEmitter).on('error', parts.onDefect)
  provider.on('server_error', (_ctx, error) => parts.onDefect(error))
  return provider
}

function configurationOf(parts: ProviderParts, keySet: KeySet): Configuration {
  const { settings, store } = parts
  const [signing] = keySet.keys
  const accessSeconds = settings.accessTokenDays * DAY_SECONDS
  const refreshSeconds = settings.refreshTokenDays * DAY_SECONDS
  const findAccount = async (ctx: KoaContextWithOIDC, id: string) => {
    const account = await store.findAccount(id)
    if (account === null || !canSignIn(account)) return undefined
    const client = await store.findClient(ctx.oidc.client?.clientId ?? '')
    if (client !== null && client.tenantId !== account.tenantId) return undefined
    return { accountId: id, account, claims: async () => ({ sub: id }) }
  }
  return {
    adapter: createAdapterFactory(parts),
    jwks: { keys: [...keySet.keys] as NonNullable<Configuration['jwks']>['keys'] },
    findAccount,
    scopes: [],
    responseTypes: ['code'],
    clientAuthMethods: ['none'],
    clientDefaults: { token_endpoint_auth_method: 'none' },
    clockTolerance: 0,
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    revokeGrantPolicy: () => true,
    clientBasedCORS: () => false,
    fetch: createDocumentFetch(parts.get),
    extraTokenClaims: (ctx, token) =>
      claimsOf(accountOf(ctx), 'grantId' in token ? token.grantId : undefined),
    renderError: async (ctx, out) => {
      const page = errorPage(out)
      ctx.set(page.headers)
      ctx.body = page.body
    },
    routes: {
      authorization: '/oauth/authorize',
      token: '/oauth/token',
      revocation: '/oauth/revoke',
      jwks: '/oauth/jwks',
      end_session: '/oauth/session/end',
    },
    cookies: {
      keys: [deriveKey(settings.secret, 'cookies').toString('base64url')],
      names: {
        session: 'asyncgate_session',
        interaction: 'asyncgate_interaction',
        resume: 'asyncgate_resume',
      },
      long: { httpOnly: true, sameSite: 'lax', signed: true },
      short: { httpOnly: true, sameSite: 'lax', signed: true },
    },
    ttl: {
      AccessToken: accessSeconds,
      AuthorizationCode: MINUTE_SECONDS,
      // The end of the first one holds for all that follow it.
      RefreshToken: (ctx) => ctx?.oidc?.entities.RotatedRefreshToken?.remainingTTL ?? refreshSeconds,
      Grant: refreshSeconds + accessSeconds,
      Interaction: 15 * MINUTE_SECONDS,
      Session: 10 * MINUTE_SECONDS,
    },
    interactions: {
      policy: policy(),
      url: async (_ctx, { uid }) => `/oauth/interaction/${uid}`,
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      revocation: {
        enabled: true,
        allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
      },
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        allowFetch: async () => true,
        allowClient: async (_ctx, client) => (client.redirectUris ?? []).every(isRedirectUri),
        cacheDuration: { min: MINUTE_SECONDS, max: 60 * MINUTE_SECONDS },
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: async (_ctx, _client, oneOf) =>
          (Array.isArray(oneOf) ? oneOf[0] : oneOf) ?? settings.issuer,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_ctx, resource) => ({
          scope: SCOPES.join(' '),
          audience: audienceOf(resource, settings.issuer),
          accessTokenTTL: accessSeconds,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: ALGORITHM, kid: signing!.kid } },
        }),
      },
    },
  }
}

/** Written with a slash at its end an address is the same one. */
function audienceOf(resource: string, issuer: string): string {
  const named = resourcesOf(issuer).find((known) => resource === known || resource === `${known}/`)
  if (named === undefined) throw new errors.InvalidTarget('this server is not that resource')
  return named
}

/** What `findAccount` above found. */
function accountOf(ctx: KoaContextWithOIDC): FoundAccount {
  return ctx.oidc.entities.Account!['account'] as FoundAccount
}

function claimsOf({ tenantId, principal }: FoundAccount, grantId: string | undefined) {
  return {
    tenant_id: tenantId,
    principal_kind: principal.kind,
    principal_id: principal.id,
    grant_id: grantId,
  }
}

/** Whoever signed in a while ago, or let the client in before, is asked all the same whether it may. */
function policy(): interactionPolicy.Prompt[] {
  const { Check, base } = interactionPolicy
  const prompts = base()
  prompts
    .get('login')!
    .checks.add(
      new Check('account_gone', 'the account can no longer sign in', 'login_required', ({ oidc }) =>
        oidc.session?.accountId !== undefined && oidc.account === undefined
          ? Check.REQUEST_PROMPT
          : Check.NO_NEED_TO_PROMPT,
      ),
    )
  prompts
    .get('consent')!
    .checks.add(
      new Check('consent_each_time', 'consent is asked for each time', 'consent_required', ({ oidc }) =>
        oidc.result?.consent === undefined ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
      ),
    )
  return prompts
}
