// Secrets at rest: Argon2id in its usual text form, which carries its own cost and salt, so that a later cost leaves the
// hashes of today valid. Node brings Argon2 itself; it works off the main thread.
import { argon2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { Random } from '../ids.ts'

export interface HashCost {
  readonly memoryKib: number
  readonly passes: number
}

/** AUTH-1: t=2, m=64 MiB, p=1. */
export const HASH_COST: HashCost = { memoryKib: 65_536, passes: 2 }

const SALT_BYTES = 16
const HASH_BYTES = 32

const derive = promisify(argon2)

export async function hashSecret(
  secret: string,
  { random, cost = HASH_COST }: { random: Random; cost?: HashCost },
): Promise<string> {
  const salt = Buffer.from(Array.from({ length: SALT_BYTES }, () => random.below(256)))
  const hash = await argon2id(secret, { salt, ...cost })
  return `$argon2id$v=19$m=${cost.memoryKib},t=${cost.passes},p=1$${base64(salt)}$${base64(hash)}`
}

const FORM = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$([\w+/]+)\$([\w+/]+)$/

export async function matchesHash(secret: string, encoded: string): Promise<boolean> {
  const match = FORM.exec(encoded)
  if (match === null) throw new Error('a stored hash is not of the form that this server writes')
  const [, memory, passes, salt, hash] = match
  const expected = Buffer.from(hash!, 'base64')
  const offered = await argon2id(secret, {
    salt: Buffer.from(salt!, 'base64'),
    memoryKib: Number(memory),
    passes: Number(passes),
  })
  return timingSafeEqual(offered, expected)
}

function argon2id(secret: string, { salt, memoryKib, passes }: HashCost & { salt: Buffer }): Promise<Buffer> {
  return derive('argon2id', {
    message: secret,
    nonce: salt,
    parallelism: 1,
    tagLength: HASH_BYTES,
    memory: memoryKib,
    passes,
  })
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
