// What the OpenID provider before this server is not believed: statements for another, by another, of another login.
import { createServer, type Server } from 'node:http'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../clock.ts'
import { systemRandom } from '../../ids.ts'
import { createMemoryStore } from '../../store/memory/index.ts'
import { createUpstream, type Upstream } from './upstream.ts'

const CLIENT_ID = 'asyncgate'
const UID = 'the interaction'

let provider: Server
let issuer: string
let idToken: (nonce: string) => Promise<string>
let upstream: Upstream
let metadata: object = {}
const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })

beforeAll(async () => {
  let nonce = ''
  provider = createServer((request, reply) => {
    const answers: Record<string, () => Promise<object> | object> = {
      '/.well-known/openid-configuration': () => ({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        ...metadata,
      }),
      '/jwks': async () => ({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256' }] }),
      '/token': async () => ({ id_token: await idToken(nonce) }),
    }
    void Promise.resolve(answers[request.url ?? '']?.()).then((body) => reply.end(JSON.stringify(body)))
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  issuer = `http://127.0.0.1:${(provider.address() as { port: number }).port}`
  const fresh = open()
  upstream = {
    ...fresh,
    begin: async (uid, name) => {
      const url = await fresh.begin(uid, name)
      nonce = new URL(url).searchParams.get('nonce')!
      return url
    },
  }
})
afterAll(() => new Promise((resolve) => provider.close(resolve)))

function open(): Upstream {
  const settings = {
    issuer,
    clientId: CLIENT_ID,
    clientSecret: null,
    redirectUri: 'https://gate.example/oauth/callback',
  }
  return createUpstream({ settings, store: createMemoryStore(), clock: systemClock, random: systemRandom })
}

function signed(claims: object, header: object = {}) {
  const now = Math.floor(Date.now() / 1_000)
  return new SignJWT({ iss: issuer, aud: CLIENT_ID, sub: 'ada', iat: now, exp: now + 60, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'k', ...header })
    .sign(privateKey)
}

async function goRound() {
  const state = new URL(await upstream.begin(UID, 'ada')).searchParams.get('state')!
  return { state, finish: (uid = UID) => upstream.finish({ uid, state, code: 'a code' }) }
}

test('a statement for us, of this login, says who it was', async () => {
  idToken = (nonce) => signed({ nonce })
  const { finish, state } = await goRound()
  expect(await upstream.interactionOf(state)).toBe(UID)
  await expect(finish()).resolves.toEqual({ accountName: 'ada', subject: 'ada' })
  await expect(finish()).resolves.toBeNull()
  expect(await upstream.interactionOf(state)).toBeNull()
})

test('a reply that belongs to another interaction is none, and is not used up', async () => {
  idToken = (nonce) => signed({ nonce })
  const { finish } = await goRound()
  await expect(finish('another')).resolves.toBeNull()
  await expect(finish()).resolves.not.toBeNull()
})

const wrong: Record<string, (nonce: string) => Promise<string>> = {
  'another login': () => signed({ nonce: 'another' }),
  'no login in particular': () => signed({}),
  'another client': (nonce) => signed({ nonce, aud: 'another' }),
  'another issuer': (nonce) => signed({ nonce, iss: 'https://other.example' }),
  yesterday: (nonce) => signed({ nonce, exp: 1_000 }),
  nobody: (nonce) => signed({ nonce, sub: undefined }),
  'a key that is not theirs': async (nonce) => {
    const other = await generateKeyPair('RS256')
    return new SignJWT({ nonce, iss: issuer, aud: CLIENT_ID, sub: 'ada', iat: 1, exp: 9e9 })
      .setProtectedHeader({ alg: 'RS256', kid: 'k' })
      .sign(other.privateKey)
  },
  'no signature': async (nonce) => {
    const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const claims = { nonce, iss: issuer, aud: CLIENT_ID, sub: 'ada', iat: 1, exp: 9e9 }
    return `${base64({ alg: 'none' })}.${base64(claims)}.`
  },
}

test.each(Object.entries(wrong))('a statement of %s is refused', async (_what, make) => {
  idToken = make
  const { finish } = await goRound()
  await expect(finish()).rejects.toThrow()
})

test('metadata of another issuer is not used', async () => {
  metadata = { issuer: 'https://other.example' }
  await expect(open().begin(UID, 'ada')).rejects.toThrow(/is not of the issuer/)
  metadata = {}
})
