// What an API key looks like: aga_, 10 characters to look it up by, 36 that are the secret, 6 of checksum, all base62.
// The secret has 214 bits; the checksum tells a key that was mistyped or made up without asking the database.
import { crc32 } from 'node:zlib'
import type { Random } from '../ids.ts'

const MARK = 'aga_'
const LOOKUP_LENGTH = 10
const SECRET_LENGTH = 36
const CHECKSUM_LENGTH = 6
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const FORM = new RegExp(`^${MARK}[0-9A-Za-z]{${LOOKUP_LENGTH + SECRET_LENGTH + CHECKSUM_LENGTH}}$`)
export const KEY_LENGTH = MARK.length + LOOKUP_LENGTH + SECRET_LENGTH + CHECKSUM_LENGTH
const PREFIX_LENGTH = MARK.length + LOOKUP_LENGTH

export interface KeyText {
  /** The whole key, which only its holder keeps. */
  readonly text: string
  /** Its beginning, by which it is looked up and known to people. */
  readonly prefix: string
}

export function makeKey(random: Random): KeyText {
  const digit = () => DIGITS[random.below(DIGITS.length)]!
  const body = Array.from({ length: LOOKUP_LENGTH + SECRET_LENGTH }, digit).join('')
  return { text: `${MARK}${body}${checksum(body)}`, prefix: `${MARK}${body.slice(0, LOOKUP_LENGTH)}` }
}

/** Null for what cannot be a key, told without any lookup. */
export function prefixOf(text: string): string | null {
  if (!FORM.test(text)) return null
  const body = text.slice(MARK.length, -CHECKSUM_LENGTH)
  return checksum(body) === text.slice(-CHECKSUM_LENGTH) ? text.slice(0, PREFIX_LENGTH) : null
}

/** 62^6 is more than 2^32, so that six digits hold it. */
function checksum(body: string): string {
  let left = crc32(body)
  let digits = ''
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = DIGITS[left % DIGITS.length]! + digits
    left = Math.floor(left / DIGITS.length)
  }
  return digits
}
