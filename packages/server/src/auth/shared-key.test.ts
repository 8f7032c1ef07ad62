// The shared key and development mode.
import { SCOPES } from '@asyncgate/sdk'
import { describe, expect, test } from 'vitest'
import { createSharedKeyAuth } from './shared-key.ts'

const withKey = createSharedKeyAuth({ mode: 'keys', apiKey: 'the key-of-all' })

test('the key gives an administrator who speaks for all of the default tenant', async () => {
  await expect(withKey({ 'x-api-key': 'the key-of-all' })).resolves.toMatchObject({
    tenantId: 'default',
    principal: { kind: 'agent', id: 'default' },
    role: 'admin',
    scopes: new Set(SCOPES),
    speaksForAll: true,
  })
})

test('development mode asks for nothing', async () => {
  const dev = createSharedKeyAuth({ mode: 'dev', apiKey: null })
  await expect(dev({})).resolves.toMatchObject({ role: 'admin', tenantId: 'default' })
})

describe('refusals say what to send', () => {
  test.each([
    ['nothing', withKey, {}, /No API key was sent/],
    ['a wrong key', withKey, { authorization: 'Bearer the' }, /not valid/],
    ['a longer key', withKey, { 'x-api-key': 'the key-of-all-and-more' }, /not valid/],
    [
      'a server without a key',
      createSharedKeyAuth({ mode: 'keys', apiKey: null }),
      { 'x-api-key': 'x' },
      /has no API key/,
    ],
  ])('%s', async (_what, authenticate, headers, message) => {
    await expect(authenticate(headers)).rejects.toMatchObject({
      code: 'unauthenticated',
      message: expect.stringMatching(message),
    })
    await expect(authenticate(headers)).rejects.toThrow(/Authorization: Bearer <key>/)
  })
})
