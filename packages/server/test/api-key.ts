// An API key as a store keeps it, and cheap hashes, for tests that make many.
import { hashSecret } from '../src/auth/secret-hash.ts'
import { type KeyText, makeKey } from '../src/auth/key-text.ts'
import type { Random } from '../src/ids.ts'
import type { ApiKey } from '../src/store/keys.ts'

/** The least that Argon2 takes: enough to tell one secret from another. */
export const CHEAP = { memoryKib: 8, passes: 1 } as const

export async function apiKey(
  random: Random,
  over: Partial<ApiKey> & Pick<ApiKey, 'tenantId' | 'keyId'>,
): Promise<KeyText & { key: ApiKey }> {
  const { text, prefix } = makeKey(random)
  const key: ApiKey = {
    prefix,
    secretHash: await hashSecret(text, { random, cost: CHEAP }),
    name: null,
    principal: { kind: 'agent', id: 'alice' },
    role: 'agent',
    scopes: ['tasks:read', 'tasks:write'],
    createdAt: 0,
    createdBy: { kind: 'human', id: 'ada' },
    expiresAt: null,
    revokedAt: null,
    ...over,
  }
  return { text, prefix, key }
}
