// Making an API key: its text, which only the reply carries, and what is kept of it.
import { GateError } from '@asyncgate/sdk'
import type { Principal } from '../../auth/caller.ts'
import { type KeyText, makeKey } from '../../auth/key-text.ts'
import { hashSecret } from '../../auth/secret-hash.ts'
import type { ApiKey } from '../../store/keys.ts'
import { keyToWire } from '../view-access.ts'
import type { HandlerParts } from './parts.ts'

export type Bindings = Pick<ApiKey, 'tenantId' | 'name' | 'principal' | 'role' | 'scopes' | 'expiresAt'>

export interface MadeKey extends Pick<KeyText, 'text'> {
  readonly key: ApiKey
}

export type KeyMaker = (bindings: Bindings, createdBy: Principal) => Promise<MadeKey>

export function createKeyMaker({ clock, ids, random, hashCost }: HandlerParts): KeyMaker {
  return async (bindings, createdBy) => {
    assertAhead(bindings.expiresAt, clock.now())
    const { text, prefix } = makeKey(random)
    const secretHash = await hashSecret(text, { random, ...(hashCost && { cost: hashCost }) })
    const createdAt = clock.now()
    const keyId = ids.next(createdAt)
    return { text, key: { keyId, prefix, secretHash, ...bindings, createdAt, createdBy, revokedAt: null } }
  }
}

/** The one time that the key itself is shown. */
export function madeToWire({ key, text }: MadeKey, now: number) {
  return { ...keyToWire(key, now), api_key: text }
}

/** A key that has already ended is a mistake in a date. */
function assertAhead(expiresAt: number | null, now: number): void {
  if (expiresAt === null || expiresAt > now) return
  const message = 'Field "expires_at" lies in the past. Give a later time, or leave it out.'
  const issues = [{ field: 'expires_at', message }]
  throw new GateError('invalid_input', message, { field: 'expires_at', issues })
}
