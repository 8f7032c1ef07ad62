// The keys that access tokens are signed with: made at the first start, kept sealed in the store, shared by all instances.
// The newest signs; the others only prove what they signed before, until that has expired.
import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import type { Clock } from '../clock.ts'
import { ConfigError } from '../config.ts'
import type { Random } from '../ids.ts'
import type { OAuthStore, SigningKey } from '../store/oauth.ts'
import { deriveKey, seal, unseal } from './seal.ts'

export const ALGORITHM = 'RS256'
const MODULUS_BITS = 2_048
/** Another instance's new key signs here this much later at most. */
const TRUST_MS = 30_000
/** An unknown key id may be news, or nonsense from anybody: the store is asked this often at most. */
const UNKNOWN_INTERVAL_MS = 1_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** The longest life of an access token, and a while for instances that have not heard of the rotation. */
export const RETIRED_KEPT_MS = 90 * DAY_MS + HOUR_MS

export interface KeySet {
  /** Private, newest first. */
  readonly keys: readonly (JWK & { readonly kid: string })[]
  readonly publicKeys: ReadonlyMap<string, CryptoKey>
}

export interface SigningKeys {
  current(): Promise<KeySet>
  /** Null for a key id that nobody of us has. */
  publicKey(keyId: string): Promise<CryptoKey | null>
}

export interface SigningKeyParts {
  readonly store: Pick<OAuthStore, 'listSigningKeys' | 'addSigningKey'>
  readonly secret: string
  readonly clock: Pick<Clock, 'now'>
  readonly random: Random
}

export function createSigningKeys(parts: SigningKeyParts): SigningKeys {
  const { store, secret, clock } = parts
  const sealingKey = sealingKeyOf(secret)
  let last: { readonly set: KeySet; readonly readAt: number } | null = null
  let reading: Promise<KeySet> | null = null

  async function read(): Promise<KeySet> {
    const readAt = clock.now()
    let rows = await store.listSigningKeys()
    if (rows.length === 0) {
      await addKey(parts)
      rows = await store.listSigningKeys()
    }
    const set = await keySetOf(rows, sealingKey)
    last = { set, readAt }
    return set
  }

  function readOnce(): Promise<KeySet> {
    reading ??= read().finally(() => {
      reading = null
    })
    return reading
  }

  const isOlderThan = (ms: number) => last === null || clock.now() - last.readAt >= ms

  return {
    current: async () => (isOlderThan(TRUST_MS) ? readOnce() : last!.set),
    publicKey: async (keyId) => {
      const known = last?.set.publicKeys.get(keyId)
      if (known !== undefined && !isOlderThan(TRUST_MS)) return known
      if (!isOlderThan(UNKNOWN_INTERVAL_MS)) return null
      return (await readOnce()).publicKeys.get(keyId) ?? null
    },
  }
}

/** The others retire. Its id is the thumbprint of its public half. */
export async function addKey({ store, secret, clock, random }: SigningKeyParts): Promise<string> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { modulusLength: MODULUS_BITS, extractable: true })
  const jwk = await exportJWK(privateKey)
  const keyId = await calculateJwkThumbprint(jwk)
  const sealed = seal(JSON.stringify(jwk), sealingKeyOf(secret), random)
  await store.addSigningKey({ keyId, sealed, createdAt: clock.now(), retiredAt: null })
  return keyId
}

async function keySetOf(rows: readonly SigningKey[], sealingKey: Buffer): Promise<KeySet> {
  const keys = rows.map((row) => ({ ...open(row, sealingKey), kid: row.keyId, alg: ALGORITHM, use: 'sig' }))
  const publicKeys = new Map<string, CryptoKey>()
  for (const { kid, kty, n, e } of keys) {
    // An RSA key: what comes back is no secret's bytes.
    publicKeys.set(kid, (await importJWK({ kty, n, e } as JWK, ALGORITHM)) as CryptoKey)
  }
  return { keys, publicKeys }
}

function open({ keyId, sealed }: SigningKey, sealingKey: Buffer): JWK {
  try {
    return JSON.parse(unseal(sealed, sealingKey)) as JWK // as addKey wrote it
  } catch {
    const message =
      `The signing key ${keyId} cannot be read: this is not the secret that it was sealed with. ` +
      'Give the secret that this database was used with.'
    throw new ConfigError([{ where: 'oauth.secret', message }])
  }
}

function sealingKeyOf(secret: string): Buffer {
  return deriveKey(secret, 'signing keys')
}
