// Secrets that the server must read again, at rest: AES-256-GCM under a key made from the configured secret.
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import type { Random } from '../ids.ts'

const IV_BYTES = 12
const TAG_BYTES = 16

/** A key for one purpose: what was made for another is of no use. */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `asyncgate ${purpose}`, 32))
}

export function seal(text: string, key: Buffer, random: Random): string {
  const iv = Buffer.from(Array.from({ length: IV_BYTES }, () => random.below(256)))
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64')
}

/** Throws for another key, and for what was changed. */
export function unseal(sealed: string, key: Buffer): string {
  const bytes = Buffer.from(sealed, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES))
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  const body = bytes.subarray(IV_BYTES + TAG_BYTES)
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
}
