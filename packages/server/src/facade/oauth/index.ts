// Signing in, put together from its parts: what the HTTP server mounts, and how a token is checked.
import type { FastifyInstance } from 'fastify'
import type { Audit } from '../audit.ts'
import type { CallLog } from '../dispatch.ts'
import { createLogin } from '../../auth/login.ts'
import type { HashCost } from '../../auth/secret-hash.ts'
import { createSigningKeys } from '../../auth/signing-keys.ts'
import { createTokenCheck, type TokenCheck } from '../../auth/token-check.ts'
import type { Clock } from '../../clock.ts'
import { get } from '../../egress/get.ts'
import type { Random } from '../../ids.ts'
import type { Store } from '../../store/port.ts'
import { createAuthorizationServer } from './authorization-server.ts'
import type { Get } from './client-document.ts'
import { createFormTokens } from './form-token.ts'
import { mountOAuth } from './mount.ts'
import type { ProviderSettings } from './provider.ts'
import { resourcesOf } from './resources.ts'
import { createUpstream } from './upstream.ts'

/** As the configuration has them: without an issuer nobody signs in. */
export interface OAuthSettings extends Omit<ProviderSettings, 'issuer' | 'secret'> {
  readonly issuer: string | null
  readonly secret: string | null
  readonly upstreamIssuer: string | null
  readonly upstreamClientId: string | null
  readonly upstreamClientSecret: string | null
}

export interface OAuthSurroundings {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly audit: Audit
  readonly log: CallLog
  readonly hashCost?: HashCost
  readonly get?: Get
}

export interface OAuth {
  readonly checkToken: TokenCheck
  readonly issuer: string
  mount(app: FastifyInstance): void
  /** Makes the first signing key where there is none; throws where those that there are cannot be read. */
  open(): Promise<void>
}

export function createOAuth(settings: OAuthSettings, surroundings: OAuthSurroundings): OAuth | null {
  const { issuer, secret, accessTokenDays, refreshTokenDays } = settings
  if (issuer === null || secret === null) return null
  const { store, clock, random, log, audit } = surroundings
  const keys = createSigningKeys({ store, secret, clock, random })
  const onDefect = (error: unknown) => log.error({ error }, 'signing in failed on our side')
  const server = createAuthorizationServer({
    settings: { issuer, secret, accessTokenDays, refreshTokenDays },
    get: surroundings.get ?? get,
    ...{ keys, store, clock, audit, onDefect },
  })
  return {
    checkToken: createTokenCheck({ store, keys, clock, random, issuer, audiences: resourcesOf(issuer) }),
    open: async () => void (await server()),
    issuer,
    mount: (app) =>
      mountOAuth(app, {
        login: createLogin(surroundings),
        formTokens: createFormTokens(secret),
        upstream: upstreamOf(settings, surroundings),
        ...{ issuer, server, store, audit, onDefect },
      }),
  }
}

function upstreamOf(settings: OAuthSettings, { store, clock, random }: OAuthSurroundings) {
  const { issuer, upstreamIssuer, upstreamClientId, upstreamClientSecret: clientSecret } = settings
  if (upstreamIssuer === null || upstreamClientId === null) return null
  const redirectUri = `${issuer}/oauth/callback`
  const there = { issuer: upstreamIssuer, clientId: upstreamClientId, clientSecret, redirectUri }
  return createUpstream({ settings: there, store, clock, random })
}
