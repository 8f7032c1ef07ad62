// A word that only who was shown a form can send back with it: the cookie of the interaction is not enough.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveKey } from '../../auth/seal.ts'

export interface FormTokens {
  of(uid: string): string
  isOf(uid: string, offered: string): boolean
}

export function createFormTokens(secret: string): FormTokens {
  const key = deriveKey(secret, 'forms')
  const digest = (uid: string) => createHmac('sha256', key).update(uid).digest()
  return {
    of: (uid) => digest(uid).toString('base64url'),
    isOf: (uid, offered) => {
      const given = Buffer.from(offered, 'base64url')
      const expected = digest(uid)
      return given.length === expected.length && timingSafeEqual(given, expected)
    },
  }
}
