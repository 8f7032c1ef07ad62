// Accounts, clients and signing keys from the command line, on a database that a server then uses.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { configOf } from '../src/config.ts'
import { startGate } from '../src/gate.ts'
import { runCommand } from './cli-process.ts'
import { freePort, PASSWORD, REDIRECT_URI, SECRET, signIn } from './oauth-rig.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'asyncgate-oauth-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function asyncgate(
  args: readonly string[],
  { input = '', env = {} }: { input?: string; env?: Record<string, string> } = {},
) {
  const url = `sqlite:${join(folder, 'gate.db')}`
  return runCommand(args, { cwd: folder, env: { ASYNCGATE_DATABASE_URL: url, ...env }, input })
}

async function serve() {
  const port = await freePort()
  const issuer = `http://127.0.0.1:${port}`
  const database = { url: `sqlite:${join(folder, 'gate.db')}` }
  const config = configOf({ port, database, oauth: { issuer, secret: SECRET }, log: { level: 'silent' } })
  return { gate: await startGate(config), issuer }
}

test('an account, a client and the keys of a server, from nothing', async () => {
  const who = ['--username', 'ada', '--role', 'admin', '--principal', 'human/ada']
  const made = await asyncgate(['accounts', 'create', ...who], { input: `${PASSWORD}\n` })
  expect([made.code, made.err]).toEqual([0, expect.stringContaining('which is new')])
  expect(made.out).toMatch(/signs in as +default\/ada\n/)
  expect(made.out).not.toContain(PASSWORD)
  const taken = await asyncgate(['accounts', 'create', ...who], { input: PASSWORD })
  expect([taken.code, taken.err]).toEqual([1, expect.stringContaining('Choose another name')])
  const short = await asyncgate(['accounts', 'create', ...who.with(1, 'eve')], { input: 'short' })
  expect([short.code, short.err.includes('short')]).toEqual([1, false])

  const register = ['clients', 'register', '--name', 'Editor', '--redirect-uris', REDIRECT_URI, '--json']
  const { client_id: clientId } = JSON.parse((await asyncgate(register)).out) as { client_id: string }

  const server = await serve()
  const before = await signIn(server, clientId)
  await server.gate.stop()

  const env = { ASYNCGATE_OAUTH_SECRET: SECRET }
  const rotated = await asyncgate(['oauth', 'rotate-keys', '--json'], { env })
  expect([rotated.code, rotated.err]).toEqual([0, ''])
  const { key_id: keyId } = JSON.parse(rotated.out) as { key_id: string }
  const again = await serve()
  const call = (token: string) =>
    fetch(`${again.issuer}/v1/config`, { headers: { authorization: `Bearer ${token}` } }).then(
      ({ status }) => status,
    )
  const after = await signIn(again, clientId)
  expect(decodeProtectedHeader(after.access_token).kid).toBe(keyId)
  // Of another issuer, its port: what counts here is that the old key is still there.
  const jwks = (await (await fetch(`${again.issuer}/oauth/jwks`)).json()) as { keys: { kid: string }[] }
  expect(jwks.keys.map(({ kid }) => kid)).toEqual([keyId, decodeProtectedHeader(before.access_token).kid])
  expect(await call(after.access_token)).toBe(200)
  await again.gate.stop()

  await asyncgate(['oauth', 'rotate-keys', '--end-tokens'], { env })
  const last = await serve()
  const left = (await (await fetch(`${last.issuer}/oauth/jwks`)).json()) as { keys: { kid: string }[] }
  expect(left.keys).toHaveLength(1)
  const { audit } = (await last.gate.dispatch(
    'listAudit',
    { event: 'signing_key.rotated' },
    {
      caller: (await import('../src/auth/shared-key.ts')).SHARED_CALLER,
    },
  )) as { audit: { reason: string }[] }
  expect(audit.map(({ reason }) => reason)[0]).toMatch(/^New tokens are signed with .* have ended\.$/)
  await last.gate.stop()
})

test('people and clients are listed, and taken away again', async () => {
  const list = async (what: string) => (await asyncgate([what, 'list', '--json'])).out
  const { accounts } = JSON.parse(await list('accounts')) as { accounts: { account_id: string }[] }
  const { clients } = JSON.parse(await list('clients')) as { clients: { client_id: string }[] }
  const { account_id: accountId } = accounts[0]!
  expect((await asyncgate(['accounts', 'list'])).out).toMatch(/SIGNS IN AS.*\n.*default\/ada +active +admin/)
  expect((await asyncgate(['clients', 'list'])).out).toMatch(/CLIENT ID.*\n.*active +Editor/)
  expect((await asyncgate(['accounts', 'disable', accountId])).out).toBe('default/ada is disabled.\n')
  expect((await asyncgate(['accounts', 'enable', accountId])).out).toBe('default/ada is active.\n')
  const password = await asyncgate(['accounts', 'password', accountId], { input: `${PASSWORD} again\n` })
  expect([password.code, password.out]).toEqual([0, 'default/ada has a new password and signs in anew.\n'])
  expect((await asyncgate(['clients', 'revoke', clients[0]!.client_id])).out).toMatch(/^Revoked Editor/)
})

test('keys are rotated with the secret of the database alone', async () => {
  expect((await asyncgate(['oauth', 'rotate-keys'])).err).toContain('There is no oauth.secret')
  const other = await asyncgate(['oauth', 'rotate-keys'], { env: { ASYNCGATE_OAUTH_SECRET: 'x'.repeat(32) } })
  expect([other.code, other.err]).toEqual([1, expect.stringContaining('this is not the secret')])
})
