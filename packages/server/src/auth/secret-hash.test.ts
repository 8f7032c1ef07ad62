// Argon2id at rest.
import { expect, test } from 'vitest'
import { systemRandom } from '../ids.ts'
import { hashSecret, matchesHash } from './secret-hash.ts'

/** From the tests of the reference implementation. */
const REFERENCE = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'

test('it agrees with the reference implementation', async () => {
  await expect(matchesHash('password', REFERENCE)).resolves.toBe(true)
  await expect(matchesHash('Password', REFERENCE)).resolves.toBe(false)
})

test('by default a hash costs two passes over 64 MiB, and has a salt of its own', async () => {
  const [first, second] = await Promise.all(
    ['a', 'a'].map((text) => hashSecret(text, { random: systemRandom })),
  )
  expect(first).toMatch(/^\$argon2id\$v=19\$m=65536,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  expect(second).not.toBe(first)
  await expect(matchesHash('a', first!)).resolves.toBe(true)
})

test('what is no hash of ours is a defect, not a wrong key', async () => {
  await expect(matchesHash('password', 'plain')).rejects.toThrow(/not of the form/)
  await expect(matchesHash('password', REFERENCE.replace('argon2id', 'argon2i'))).rejects.toThrow(
    /not of the form/,
  )
})
