// Signing keys: made once, sealed, found again by every instance that has the secret.
import { expect, test } from 'vitest'
import { createSeededRandom } from '../../test/seeded-random.ts'
import { createMemoryStore } from '../store/memory/index.ts'
import { deriveKey, seal, unseal } from './seal.ts'
import { addKey, createSigningKeys } from './signing-keys.ts'

function setUp(secret = 's'.repeat(32), store = createMemoryStore()) {
  let now = 1_000_000
  const parts = { store, secret, clock: { now: () => now }, random: createSeededRandom(5) }
  return { parts, keys: createSigningKeys(parts), store, pass: (ms: number) => (now += ms) }
}

test('the first key is made once, and every instance has it', async () => {
  const first = setUp()
  const [one, again] = await Promise.all([first.keys.current(), first.keys.current()])
  expect(again).toBe(one)
  const second = setUp('s'.repeat(32), first.store)
  expect((await second.keys.current()).keys).toEqual(one.keys)
  expect(await first.store.listSigningKeys()).toHaveLength(1)
})

test('with another secret the keys cannot be read, and it says so', async () => {
  const { store, keys } = setUp()
  await keys.current()
  await expect(setUp('t'.repeat(32), store).keys.current()).rejects.toThrow(
    /oauth\.secret: .* this is not the secret/,
  )
})

test('a key of another instance is known as soon as a token shows it, and asked about once a second at most', async () => {
  const { parts, keys, store, pass } = setUp()
  await keys.current()
  const keyId = await addKey(parts)
  let reads = 0
  const counting = createSigningKeys({
    ...parts,
    store: {
      ...store,
      listSigningKeys: () => {
        reads += 1
        return store.listSigningKeys()
      },
    },
  })
  await expect(counting.publicKey(keyId)).resolves.not.toBeNull()
  for (let at = 0; at < 10; at += 1) await expect(counting.publicKey('made up')).resolves.toBeNull()
  expect(reads).toBe(1)
  pass(1_000)
  await expect(counting.publicKey('made up')).resolves.toBeNull()
  expect(reads).toBe(2)
})

test('what is sealed tells nothing, and comes back under its own key alone, unchanged', () => {
  const random = createSeededRandom(1)
  const [key, other] = [deriveKey('secret', 'this'), deriveKey('secret', 'that')]
  const sealed = seal('the text', key, random)
  expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('text')
  expect(seal('the text', key, random)).not.toBe(sealed)
  expect(unseal(sealed, key)).toBe('the text')
  expect(() => unseal(sealed, other)).toThrow()
  const changed = Buffer.from(sealed, 'base64')
  changed[changed.length - 1]! ^= 1
  expect(() => unseal(changed.toString('base64'), key)).toThrow()
})
