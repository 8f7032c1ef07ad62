// Signing in at another OpenID provider, which the operator has named: code with PKCE there too, and the signed statement of who
// it was. What is under way is kept in the store, once, so that any instance can go on.
import { hash } from 'node:crypto'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { artifactKey } from '../../auth/artifact-key.ts'
import type { Clock } from '../../clock.ts'
import type { Random } from '../../ids.ts'
import type { OAuthStore } from '../../store/oauth.ts'

const MODEL = 'UpstreamLogin'
const LIFE_MS = 15 * 60_000
const TIMEOUT_MS = 10_000
const DISCOVERY_MS = 10 * 60_000
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']

export interface UpstreamSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string | null
  readonly redirectUri: string
}

export interface Upstream {
  readonly issuer: URL
  /** Where to send the person. */
  begin(uid: string, accountName: string): Promise<string>
  /** Which interaction a reply belongs to. */
  interactionOf(state: string): Promise<string | null>
  /** Null for a state that was never given out or has been used. Throws when the provider's word will not do. */
  finish(reply: {
    readonly uid: string
    readonly state: string
    readonly code: string
  }): Promise<{ readonly accountName: string; readonly subject: string } | null>
}

interface UnderWay {
  readonly uid: string
  readonly accountName: string
  readonly nonce: string
  readonly verifier: string
}

interface Discovered {
  readonly issuer: string
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly jwks_uri: string
}

export interface UpstreamParts {
  readonly settings: UpstreamSettings
  readonly store: OAuthStore
  readonly clock: Pick<Clock, 'now'>
  readonly random: Random
}

export function createUpstream({ settings, store, clock, random }: UpstreamParts): Upstream {
  const word = () => Buffer.from(Array.from({ length: 32 }, () => random.below(256))).toString('base64url')
  const discover = createDiscovery(settings.issuer, clock)
  const keyOf = (state: string) => artifactKey(MODEL, state)

  async function underWay(state: string): Promise<UnderWay | null> {
    const found = await store.findArtifact(keyOf(state))
    if (found === null || found.consumedAt !== null || found.expiresAt <= clock.now()) return null
    return found.payload as unknown as UnderWay // as `begin` wrote it
  }

  return {
    issuer: new URL(settings.issuer),
    begin: async (uid, accountName) => {
      const { metadata } = await discover()
      const [state, nonce, verifier] = [word(), word(), word()]
      const payload = { uid, accountName, nonce, verifier }
      const nobodys = { grantId: null, uid: null, accountId: null, clientId: null }
      await store.putArtifact({ key: keyOf(state), payload, ...nobodys, expiresAt: clock.now() + LIFE_MS })
      const target = new URL(metadata.authorization_endpoint)
      const asked = {
        response_type: 'code',
        client_id: settings.clientId,
        redirect_uri: settings.redirectUri,
        scope: 'openid',
        state,
        nonce,
        code_challenge: hash('sha256', verifier, 'base64url'),
        code_challenge_method: 'S256',
      }
      for (const [name, value] of Object.entries(asked)) target.searchParams.set(name, value)
      return target.href
    },
    interactionOf: async (state) => (await underWay(state))?.uid ?? null,
    finish: async ({ uid, state, code }) => {
      const begun = await underWay(state)
      if (begun === null || begun.uid !== uid) return null
      if (!(await store.consumeArtifact(keyOf(state), clock.now()))) return null
      const { metadata, keys } = await discover()
      const idToken = await exchange(metadata, settings, { code, verifier: begun.verifier })
      const { payload } = await jwtVerify(idToken, keys, {
        issuer: metadata.issuer,
        audience: settings.clientId,
        algorithms: ALGORITHMS,
        currentDate: new Date(clock.now()),
        requiredClaims: ['sub', 'nonce', 'exp', 'iat'],
        clockTolerance: 30,
      })
      if (payload['nonce'] !== begun.nonce) throw new Error('the nonce of the ID token is not ours')
      return { accountName: begun.accountName, subject: payload.sub! } // required above
    },
  }
}

function createDiscovery(issuer: string, clock: Pick<Clock, 'now'>) {
  let last: { metadata: Discovered; keys: ReturnType<typeof createRemoteJWKSet>; readAt: number } | null =
    null
  return async () => {
    if (last !== null && clock.now() - last.readAt < DISCOVERY_MS) return last
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const metadata = (await askJson(address, {})) as Discovered
    // Else whoever answers there could speak for another.
    if (metadata.issuer !== issuer) throw new Error(`${address} is not of the issuer ${issuer}`)
    last = { metadata, keys: createRemoteJWKSet(new URL(metadata.jwks_uri)), readAt: clock.now() }
    return last
  }
}

async function exchange(
  { token_endpoint: endpoint }: Discovered,
  { clientId, clientSecret, redirectUri }: UpstreamSettings,
  { code, verifier }: { code: string; verifier: string },
): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  })
  const headers: Record<string, string> = {}
  if (clientSecret === null) body.set('client_id', clientId)
  else {
    const pair = [clientId, clientSecret].map(encodeURIComponent).join(':')
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`
  }
  const reply = (await askJson(endpoint, { method: 'POST', headers, body })) as { id_token?: unknown }
  if (typeof reply.id_token !== 'string') throw new Error('the OpenID provider sent no ID token')
  return reply.id_token
}

async function askJson(address: string, init: RequestInit): Promise<unknown> {
  const reply = await fetch(address, { ...init, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (!reply.ok) throw new Error(`${address} answered ${reply.status}`)
  return reply.json()
}
