// Who calls, by the configuration: everybody in development mode; else the shared key or an API key.
import { type Authenticate, credentialOf, unauthenticated } from './credential.ts'
import type { KeyCheck } from './key-check.ts'
import { createSharedKeyCheck, SHARED_CALLER } from './shared-key.ts'

export interface AuthSettings {
  readonly mode: 'keys' | 'dev'
  readonly apiKey: string | null
}

export function createAuthenticate({ mode, apiKey }: AuthSettings, checkKey: KeyCheck): Authenticate {
  if (mode === 'dev') return async () => SHARED_CALLER
  const isShared = createSharedKeyCheck(apiKey)
  return async (headers) => {
    const offered = credentialOf(headers)
    if (offered === null) throw unauthenticated('No API key was sent.')
    return isShared(offered) ? SHARED_CALLER : checkKey(offered)
  }
}
