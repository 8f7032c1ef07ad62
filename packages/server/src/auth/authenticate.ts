// Who calls, by the configuration: everybody in development mode; else the shared key or an API key.
import { type Authenticate, credentialOf, unauthenticated } from './credential.ts'
import type { KeyCheck } from './key-check.ts'
import { MARK } from './key-text.ts'
import { createSharedKeyCheck, SHARED_CALLER } from './shared-key.ts'

export interface AuthSettings {
  readonly mode: 'keys' | 'dev'
  readonly apiKey: string | null
}

export function createAuthenticate({ mode, apiKey }: AuthSettings, checkKey: KeyCheck): Authenticate {
  if (mode === 'dev') return async () => SHARED_CALLER
  const isShared = createSharedKeyCheck(apiKey)
  // Nearly every request brings an API key, and need not be compared with a shared key that looks otherwise.
  const mayBeShared = (offered: string) => apiKey?.startsWith(MARK) === true || !offered.startsWith(MARK)
  return async (headers) => {
    const offered = credentialOf(headers)
    if (offered === null) throw unauthenticated('No API key was sent.')
    return mayBeShared(offered) && isShared(offered) ? SHARED_CALLER : checkKey(offered)
  }
}
