// One shared key, or none at all in development mode. Both give an administrator of the default tenant who may speak
// for any of its principals.
import { timingSafeEqual } from 'node:crypto'
import { type Caller, DEFAULT_PRINCIPAL, DEFAULT_TENANT } from './caller.ts'
import { DEFAULT_SCOPES } from './roles.ts'

export const SHARED_CALLER: Caller = {
  tenantId: DEFAULT_TENANT,
  principal: DEFAULT_PRINCIPAL,
  role: 'admin',
  scopes: new Set(DEFAULT_SCOPES.admin),
  speaksForAll: true,
}

export function createSharedKeyCheck(apiKey: string | null): (offered: string) => boolean {
  if (apiKey === null) return () => false
  const expected = Buffer.from(apiKey)
  return (offered) => {
    // The time tells how long the key is, and nothing of what it says. API keys, which nearly every request brings, end here.
    if (offered.length !== apiKey.length) return false
    const bytes = Buffer.from(offered)
    return bytes.length === expected.length && timingSafeEqual(bytes, expected)
  }
}
