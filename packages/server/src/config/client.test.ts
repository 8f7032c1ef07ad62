// Where commands look for a server, by what was typed and what the environment says.
import { expect, test } from 'vitest'
import { clientSettings } from './client.ts'

test.each([
  ['a flag', { url: 'http://flag:1' }, { ASYNCGATE_URL: 'http://env:1' }, 'http://flag:1'],
  ['the environment', {}, { ASYNCGATE_URL: 'https://env' }, 'https://env'],
  ['neither', {}, {}, 'http://127.0.0.1:8420'],
  ['a name and a port alone', { url: 'localhost:8420' }, {}, 'http://localhost:8420'],
  ['an address alone', {}, { ASYNCGATE_URL: '10.0.0.1' }, 'http://10.0.0.1'],
])('%s', (_what, flags, env, url) => {
  expect(clientSettings(flags, env)).toEqual({ url })
})

test('the key comes from the environment alone', () => {
  expect(clientSettings({}, { ASYNCGATE_API_KEY: 'k' }).apiKey).toBe('k')
})
