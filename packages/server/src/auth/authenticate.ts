// Who calls, by the configuration: everybody in development mode; else the shared key, an API key or an access token.
import { type Authenticate, credentialOf, unauthenticated } from './credential.ts'
import type { KeyCheck } from './key-check.ts'
import { createSharedKeyCheck, SHARED_CALLER } from './shared-key.ts'
import { isToken, type TokenCheck } from './token-check.ts'

export interface AuthSettings {
  readonly mode: 'keys' | 'dev'
  readonly apiKey: string | null
}

/** Without `checkToken` nobody signs in, and a token is a key that does not exist. */
export function createAuthenticate(
  { mode, apiKey }: AuthSettings,
  checkKey: KeyCheck,
  checkToken?: TokenCheck,
): Authenticate {
  if (mode === 'dev') return () => SHARED_CALLER
  const isShared = createSharedKeyCheck(apiKey)
  return (headers) => {
    const offered = credentialOf(headers)
    if (offered === null) throw unauthenticated('No API key was sent.')
    if (isShared(offered)) return SHARED_CALLER
    return checkToken !== undefined && isToken(offered) ? checkToken(offered) : checkKey(offered)
  }
}
