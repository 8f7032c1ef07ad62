// What a server refuses to start with (AUTH-4): no credentials where others could reach it, and none that can be guessed.
import { expect, test } from 'vitest'
import { type ConfigValues, configOf, requireKey, requireServable } from '../config.ts'
import { isLoopback } from './checks.ts'

const refused: [string, ConfigValues, RegExp][] = [
  ['dev on all addresses', { auth: { mode: 'dev' }, host: '0.0.0.0' }, /loopback only, not on 0\.0\.0\.0/],
  ['dev on a name', { auth: { mode: 'dev' }, host: 'gate.example.org' }, /loopback only/],
  [
    'a short key in production',
    { auth: { api_key: '0f3c9a7d' }, environment: 'production' },
    /short or well known/,
  ],
  [
    'a placeholder for a key in production',
    { auth: { api_key: 'change-me-0f3c9a7d5be1642a88' }, environment: 'production' },
    /short or well known/,
  ],
  [
    'one character many times in production',
    { auth: { api_key: 'a'.repeat(48) }, environment: 'production' },
    /short or well known/,
  ],
  ['half of a certificate', { tls: { cert_file: 'cert.pem' } }, /go together/],
  ['dev in production', { auth: { mode: 'dev' }, environment: 'production' }, /refuses to run in production/],
]

test.each(refused)('refuses %s', (_what, values, message) => {
  expect(() => requireServable(configOf(values))).toThrow(message)
})

const SIGN_IN = { issuer: 'https://gate.example', secret: '8f1d0c47a2b95e6330d9c1f47be82a56' }
const unsafeSignIn: [string, string, ConfigValues][] = [
  ['http elsewhere', 'oauth.issuer', { oauth: { ...SIGN_IN, issuer: 'http://gate.example' } }],
  [
    'http in production',
    'oauth.issuer',
    { oauth: { ...SIGN_IN, issuer: 'http://127.0.0.1:8420' }, environment: 'production' },
  ],
  ['no secret', 'oauth.secret', { oauth: { issuer: SIGN_IN.issuer } }],
  [
    'a secret that can be guessed, in production',
    'oauth.secret',
    { oauth: { ...SIGN_IN, secret: 's'.repeat(32) }, environment: 'production' },
  ],
  ['development mode', 'oauth.issuer', { oauth: SIGN_IN, auth: { mode: 'dev' } }],
  [
    'a provider without a client id',
    'oauth.upstream_client_id',
    { oauth: { ...SIGN_IN, upstream_issuer: 'https://login.example' } },
  ],
]

test.each(unsafeSignIn)('refuses to let people sign in with %s', (_what, where, values) => {
  expect(() => requireServable(configOf(values))).toThrow(where)
})

test.each([
  'https://gate.example/',
  'https://gate.example/path',
  'https://GATE.example',
  'gate.example',
  'https://a@b',
])('%s is no issuer', (issuer) => {
  expect(() => configOf({ oauth: { ...SIGN_IN, issuer } })).toThrow(/oauth\.issuer can't be/)
})

const accepted: [string, ConfigValues][] = [
  ['dev on loopback', { auth: { mode: 'dev' } }],
  ['dev on IPv6 loopback', { auth: { mode: 'dev' }, host: '::1' }],
  ['keys of the database', { environment: 'production', host: '0.0.0.0' }],
  ['keys with a weak key while developing', { auth: { api_key: 'k' }, host: '0.0.0.0' }],
  [
    'keys with a random key anywhere',
    {
      auth: { api_key: '0f3c9a7d5be1642a88c1d07e' },
      host: '0.0.0.0',
      environment: 'production',
    },
  ],
  [
    'signing in over https',
    { oauth: { ...SIGN_IN, issuer: 'https://g.example' }, environment: 'production' },
  ],
  ['signing in over http on loopback', { oauth: { ...SIGN_IN, issuer: 'http://127.0.0.1:8420' } }],
]

test.each(accepted)('accepts %s', (_what, values) => {
  expect(() => requireServable(configOf(values))).not.toThrow()
})

test('refuses to serve when there is no key at all', () => {
  expect(() => requireKey(true)).not.toThrow()
  expect(() => requireKey(false)).toThrow(/asyncgate keys create .*ASYNCGATE_AUTH_API_KEY .*"asyncgate dev"/)
})

test.each([
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['localhost', true],
  ['::1', true],
  ['[::1]', true],
  ['0.0.0.0', false],
  ['::', false],
  ['192.168.0.1', false],
  ['127.0.0.1.example.org', false],
])('%s is loopback: %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected)
})
