// How the OAuth library remembers: in our store, under hashes of what it gave out. Consuming is decided by the store, so that of
// two who present one code or one refresh token at once, on any two instances, one is first.
import { type Adapter, type AdapterFactory, type AdapterPayload, errors } from 'oidc-provider'
import { artifactKey } from '../../auth/artifact-key.ts'
import type { Clock } from '../../clock.ts'
import type { OAuthClient } from '../../store/clients.ts'
import type { FoundArtifact } from '../../store/oauth.ts'
import type { Store } from '../../store/port.ts'
import type { Audit } from '../audit.ts'
import { currentFacts } from './request-facts.ts'

export interface AdapterParts {
  readonly store: Store
  readonly clock: Pick<Clock, 'now'>
  readonly audit: Pick<Audit, 'record'>
}

/** What goes with its grant. Sessions and interactions name a grant too, and outlive it. */
const OF_A_GRANT = new Set(['Grant', 'AuthorizationCode', 'RefreshToken'])
const USED = { RefreshToken: 'refresh token already used', AuthorizationCode: 'code already used' } as const

export function createAdapterFactory(parts: AdapterParts): AdapterFactory {
  return (model) => (model === 'Client' ? clientAdapter(parts) : artifactAdapter(model, parts))
}

function artifactAdapter(model: string, parts: AdapterParts): Adapter {
  const { store, clock } = parts
  const keyOf = (id: string) => artifactKey(model, id)
  return {
    upsert: (id, payload, expiresIn) => {
      const expiresAt = clock.now() + (expiresIn ?? 0) * 1_000
      return store.putArtifact({ key: keyOf(id), ...kept(model, id, payload), expiresAt })
    },
    find: async (id) => given(await store.findArtifact(keyOf(id)), id),
    findByUid: async (uid) => given(await store.findArtifactByUid(uid)),
    findByUserCode: async () => undefined,
    consume: async (id) => {
      if (await store.consumeArtifact(keyOf(id), clock.now())) return
      // Of a refresh token there are two holders now, and one of them is a thief. Of a code only who has the verifier got here.
      const grantId = (await store.findArtifact(keyOf(id)))?.grantId
      if (model === 'RefreshToken' && grantId) await revokeGrant(grantId, parts)
      throw new errors.InvalidGrant(USED[model as keyof typeof USED] ?? 'already used')
    },
    destroy: (id) => (model === 'Grant' ? revokeGrant(id, parts) : store.removeArtifact(keyOf(id))),
    revokeByGrantId: (grantId) => revokeGrant(grantId, parts),
  }
}

/** It is on record once, however often it is asked for. */
async function revokeGrant(grantId: string, { store, audit }: AdapterParts): Promise<void> {
  const facts = currentFacts()
  const grant = await store.findGrant(artifactKey('Grant', grantId))
  await store.removeGrant(grantId)
  if (grant === null || facts.account !== null) return
  facts.account = grant.account
  const { tenantId, principal } = grant.account
  const { origin, requestId } = facts
  const reason = `All that ${grant.clientId} was given by account ${grant.account.accountId} has ended.`
  await audit.record({ event: 'grant.revoked', tenantId, principal, origin, requestId, reason })
}

/** Without what is secret in it: the id is its holder's, and the session's is in the cookie. */
function kept(model: string, id: string, { jti: _id, ...payload }: AdapterPayload) {
  const { session } = payload
  const isOfGrant = OF_A_GRANT.has(model)
  return {
    payload: session ? { ...payload, session: { ...session, cookie: undefined } } : payload,
    grantId: model === 'Grant' ? id : isOfGrant ? (payload.grantId ?? null) : null,
    uid: model === 'Session' ? (payload.uid ?? null) : null,
    accountId: payload.accountId ?? null,
    clientId: payload.clientId ?? null,
  }
}

function given(artifact: FoundArtifact | null, id?: string): AdapterPayload | undefined {
  if (artifact === null) return undefined
  const { payload, consumedAt } = artifact
  const consumed = consumedAt === null ? {} : { consumed: Math.floor(consumedAt / 1_000) }
  return { ...payload, ...(id !== undefined && { jti: id }), ...consumed }
}

/** Clients are registered by our own operations; the library only reads them. */
function clientAdapter({ store }: AdapterParts): Adapter {
  const refuse = async () => {
    throw new Error('clients are not registered here')
  }
  return {
    upsert: refuse,
    find: async (id) => {
      const client = await store.findClient(id)
      return client === null || client.revokedAt !== null ? undefined : metadataOf(client)
    },
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
    consume: refuse,
    destroy: refuse,
    revokeByGrantId: refuse,
  }
}

function metadataOf({ clientId, name, redirectUris }: OAuthClient): AdapterPayload {
  return {
    client_id: clientId,
    client_name: name,
    redirect_uris: [...redirectUris],
    application_type: applicationType(redirectUris),
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  }
}

/** An application on the person's own machine is sent back to any port there: it takes the one that is free. */
export function applicationType(redirectUris: readonly unknown[]): 'web' | 'native' {
  return redirectUris.every((uri) => String(uri).startsWith('https:')) ? 'web' : 'native'
}
