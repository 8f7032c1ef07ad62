// Who calls: the shared key, development mode, and API keys and tokens where the shared key does not fit.
import { SCOPES } from '@asyncgate/sdk'
import { describe, expect, test } from 'vitest'
import { createAuthenticate } from './authenticate.ts'
import { unauthenticated } from './credential.ts'
import { SHARED_CALLER } from './shared-key.ts'

const BOB = { ...SHARED_CALLER, principal: { kind: 'agent', id: 'bob' } } as const
const ADA = { ...SHARED_CALLER, principal: { kind: 'human', id: 'ada' } } as const
const checkKey = async (text: string) => {
  if (text === 'aga_of_bob') return BOB
  throw unauthenticated('The API key is not valid.')
}
/** Refusals come at once, or by a promise: here it makes no difference. */
const create = (...parts: Parameters<typeof createAuthenticate>) => {
  const authenticate = createAuthenticate(...parts)
  return async (headers: Parameters<typeof authenticate>[0]) => authenticate(headers)
}
const withKey = create({ mode: 'keys', apiKey: 'the key-of-all' }, checkKey)

test('the shared key gives an administrator who speaks for all of the default tenant', async () => {
  await expect(withKey({ 'x-api-key': 'the key-of-all' })).resolves.toMatchObject({
    tenantId: 'default',
    principal: { kind: 'agent', id: 'default' },
    role: 'admin',
    scopes: new Set(SCOPES),
    speaksForAll: true,
  })
})

test('what is not the shared key is checked as an API key', async () => {
  await expect(withKey({ authorization: 'Bearer aga_of_bob' })).resolves.toBe(BOB)
  const withoutShared = create({ mode: 'keys', apiKey: null }, checkKey)
  await expect(withoutShared({ 'x-api-key': 'aga_of_bob' })).resolves.toBe(BOB)
})

test('what has the form of a token is checked as one, where people sign in', async () => {
  const checkToken = async () => ADA
  const both = create({ mode: 'keys', apiKey: null }, checkKey, checkToken)
  await expect(both({ authorization: 'Bearer a.b.c' })).resolves.toBe(ADA)
  await expect(both({ authorization: 'Bearer aga_of_bob' })).resolves.toBe(BOB)
  await expect(withKey({ authorization: 'Bearer a.b.c' })).rejects.toMatchObject({ code: 'unauthenticated' })
})

test('a shared key that looks like an API key is the shared key all the same', async () => {
  const alike = create({ mode: 'keys', apiKey: 'aga_of_all' }, checkKey)
  await expect(alike({ 'x-api-key': 'aga_of_all' })).resolves.toBe(SHARED_CALLER)
  await expect(alike({ 'x-api-key': 'aga_of_bob' })).resolves.toBe(BOB)
})

test('development mode asks for nothing', async () => {
  const dev = create({ mode: 'dev', apiKey: null }, checkKey)
  await expect(dev({})).resolves.toMatchObject({ role: 'admin', tenantId: 'default' })
})

describe('refusals say what to send', () => {
  test.each([
    ['nothing', {}, /No API key was sent/],
    ['a wrong key', { authorization: 'Bearer the' }, /not valid/],
    ['another key of that length', { 'x-api-key': 'the key-of-alm' }, /not valid/],
    ['other characters, in more bytes', { 'x-api-key': 'the key-of-alü' }, /not valid/],
    ['a longer key', { 'x-api-key': 'the key-of-all-and-more' }, /not valid/],
    ['another scheme', { authorization: 'Basic the key-of-all' }, /No API key was sent/],
  ])('%s', async (_what, headers, message) => {
    await expect(withKey(headers)).rejects.toMatchObject({
      code: 'unauthenticated',
      message: expect.stringMatching(message),
    })
    await expect(withKey(headers)).rejects.toThrow(/Authorization: Bearer <key>/)
  })
})
