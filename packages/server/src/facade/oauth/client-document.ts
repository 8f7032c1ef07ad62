// Client ids that are addresses: the client's metadata is the document there. It is fetched for whoever asks, so only from the
// public internet, without following redirects, and of what it says only the part that concerns us is believed.
import { createLine } from '../../auth/line.ts'
import type { get } from '../../egress/get.ts'
import { applicationType } from './adapter.ts'

const BYTES_MAX = 5_120
const TIMEOUT_MS = 5_000
/** Anybody can make us fetch; not as much as they like. */
const AT_ONCE_MAX = 8
const WAITING_MAX = 50

export type Get = typeof get

/** In the form of `fetch`, which is what the library calls. */
export function createDocumentFetch(get: Get): typeof fetch {
  const inLine = createLine({ atOnce: AT_ONCE_MAX, waitingMax: WAITING_MAX })
  return async (input) => {
    const url = input instanceof Request ? input.url : String(input)
    const got = await inLine(
      () => ask(get, url),
      () => new Error('too many documents are being fetched'),
    )
    if (got.status !== 200) return new Response(null, { status: 502 })
    const cacheControl = got.headers['cache-control']
    return new Response(JSON.stringify(believed(JSON.parse(got.body.toString('utf8')))), {
      headers: cacheControl === undefined ? {} : { 'cache-control': cacheControl },
    })
  }
}

function ask(get: Get, url: string) {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  return get({ url, headers: { accept: 'application/json' }, bytesMax: BYTES_MAX, redirectsMax: 0, signal })
}

function believed(document: unknown): unknown {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return null
  const given = document as Record<string, unknown>
  const redirectUris = Array.isArray(given['redirect_uris']) ? given['redirect_uris'] : []
  return {
    client_id: given['client_id'],
    client_name: given['client_name'],
    redirect_uris: redirectUris,
    application_type: applicationType(redirectUris),
    // Others are told apart by a secret or a key, and none is asked for here.
    token_endpoint_auth_method: given['token_endpoint_auth_method'] ?? 'none',
    grant_types: given['grant_types'] ?? ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  }
}
