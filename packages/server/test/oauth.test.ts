// Signing in, from a browser's and a client's side, on every store, with two servers side by side.
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCOPES } from '@asyncgate/sdk'
import { artifactKey } from '../src/auth/artifact-key.ts'
import { addKey, RETIRED_KEPT_MS } from '../src/auth/signing-keys.ts'
import { SHARED_CALLER } from '../src/auth/shared-key.ts'
import { systemRandom } from '../src/ids.ts'
import { createPruner } from '../src/service/pruner.ts'
import {
  ADA,
  allow,
  askFor,
  createBrowser,
  exchange,
  type OAuthRig,
  openOAuthRig,
  PASSWORD,
  post,
  REDIRECT_URI,
  refresh,
  SECRET,
  signIn,
  type TokenReply,
} from './oauth-rig.ts'
import { verifies } from './requirements.ts'
import { STORE_KINDS } from './stores.ts'

const DAY_SECONDS = 86_400

describe.each(STORE_KINDS)('on %s', (kind) => {
  let rig: OAuthRig
  let clientId: string

  async function openRig() {
    const opened = await openOAuthRig(kind)
    await opened.admin.createAccount({ username: 'ada', role: 'agent', principal: ADA, password: PASSWORD })
    const made = await opened.admin.registerClient({ name: 'Editor', redirect_uris: [REDIRECT_URI] })
    return { rig: opened, clientId: made.client_id }
  }

  beforeAll(async () => {
    ;({ rig, clientId } = await openRig())
  })
  afterAll(() => rig.close())

  verifies('AUTH-2', `a person signs in and allows, and the client acts for them, on ${kind}`, async () => {
    const { issuer, gate, beside } = rig
    const browser = createBrowser(issuer)
    const { url, verifier, state } = askFor(issuer, clientId)
    const login = await browser.open(url)
    expect([login.status, login.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    for (const text of ['Editor', 'editor.example.org']) expect(login.text).toContain(text)
    const consent = await browser.submit(login, '/login', { account: 'ada', password: PASSWORD })
    for (const text of ['Allow Editor?', 'editor.example.org', 'default/ada', 'human/ada', 'tasks:write'])
      expect(consent.text).toContain(text)
    expect(consent.text).not.toContain('tasks:lease')
    const { leftFor } = await browser.submit(consent, '/consent')
    const sent = Object.fromEntries(leftFor!.searchParams)
    expect(`${leftFor!.origin}${leftFor!.pathname}`).toBe('https://editor.example.org/back')
    expect(sent).toEqual({ keep: '1', code: expect.any(String), state, iss: issuer })
    const { status, body } = await exchange(gate.url, { code: sent['code']!, verifier, clientId })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      token_type: 'Bearer',
      expires_in: 30 * DAY_SECONDS,
      scope: 'tasks:read tasks:write',
      refresh_token: expect.any(String),
    })
    for (const server of [gate, beside]) {
      const { caller } = await rig.as(body.access_token, server.url).getConfig()
      expect(caller).toEqual({ tenant_id: 'default', role: 'agent', scopes: ['tasks:read', 'tasks:write'] })
    }
    const { task_id } = await rig.as(body.access_token).createTask({ type: 'echo' })
    expect((await rig.admin.getTask({ task_id })).created_by).toEqual(ADA)
  })

  verifies('AUTH-2', `an access token says who, for whom and for how long, on ${kind}`, async () => {
    const { access_token: token } = await signIn(rig, clientId)
    const { accounts } = await rig.admin.listAccounts({})
    const { iat, exp, jti, grant_id, ...claims } = decodeJwt(token)
    expect(claims).toEqual({
      sub: accounts.find(({ username }) => username === 'ada')!.account_id,
      tenant_id: 'default',
      ...ADA,
      scope: 'tasks:read tasks:write',
      iss: rig.issuer,
      aud: rig.issuer,
      client_id: clientId,
    })
    expect([typeof jti, typeof grant_id]).toEqual(['string', 'string'])
    expect(exp! - iat!).toBe(30 * DAY_SECONDS)
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'RS256', typ: 'at+jwt', kid: expect.any(String) })
  })

  verifies('AUTH-2', `a refresh token gives the next one and ends, on ${kind}`, async () => {
    const first = await signIn(rig, clientId)
    const second = await refresh(rig.beside.url, clientId, first.refresh_token)
    expect(second.status).toBe(200)
    expect(second.body.refresh_token).not.toBe(first.refresh_token)
    await rig.as(second.body.access_token).listTasks({})
    const third = await refresh(rig.gate.url, clientId, second.body.refresh_token)
    expect(third.status).toBe(200)
    await rig.as(third.body.access_token).listTasks({})
  })

  verifies('AUTH-2', `refreshing leads no further than the first refresh token did, on ${kind}`, async () => {
    const first = await signIn(rig, clientId)
    const { expires_in } = (await refresh(rig.gate.url, clientId, first.refresh_token)).body
    expect(expires_in).toBe(30 * DAY_SECONDS)
    const wider = await post(`${rig.gate.url}/oauth/token`, {
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: (await signIn(rig, clientId)).refresh_token,
      scope: 'tasks:read admin:write',
    })
    expect([wider.status, wider.body['error']]).toEqual([400, 'invalid_scope'])
  })

  /** Ends what a person let in, and sees the token refused on both servers within a minute, and not before it should be. */
  async function endsWithin(end: (tokens: TokenReply['body']) => Promise<unknown>, account = 'ada') {
    const tokens = await signIn(rig, clientId, { account })
    const urls = [rig.gate.url, rig.beside.url]
    for (const url of urls) await rig.as(tokens.access_token, url).listTasks({})
    await end(tokens)
    rig.clock.shift(60_000)
    for (const url of urls) {
      const refused = rig.as(tokens.access_token, url).listTasks({})
      await expect(refused).rejects.toMatchObject({
        status: expect.toSatisfy((code) => code === 401 || code === 403),
      })
    }
    const again = await refresh(rig.beside.url, clientId, tokens.refresh_token)
    expect([again.status, again.body['error']]).toEqual([400, 'invalid_grant'])
  }

  verifies(
    'AUTH-2',
    `a revoked refresh token ends its access tokens within a minute, on ${kind}`,
    async () => {
      await endsWithin(async ({ refresh_token: token }) => {
        const { status } = await post(`${rig.beside.url}/oauth/revoke`, { token, client_id: clientId })
        expect(status).toBe(200)
      })
      const revoked = (await rig.events()).filter(({ event }) => event === 'grant.revoked')
      expect(revoked).toMatchObject([{ principal: ADA, tenant_id: 'default' }])
    },
  )

  async function accountIdOf(username: string): Promise<string> {
    const { accounts } = await rig.admin.listAccounts({})
    return accounts.find((account) => account.username === username)!.account_id
  }

  async function addAccount(username: string, over: object = {}) {
    const principal = { principal_kind: 'human', principal_id: username } as const
    return rig.admin.createAccount({ username, role: 'agent', principal, password: PASSWORD, ...over })
  }

  verifies('AUTH-2', `a disabled account ends its tokens for good, on ${kind}`, async () => {
    const { account_id } = await addAccount('eve')
    await endsWithin(() => rig.admin.disableAccount({ account_id }), 'eve')
    await expect(signIn(rig, clientId, { account: 'eve' })).rejects.toThrow('no form /consent')
    await rig.admin.enableAccount({ account_id })
    await signIn(rig, clientId, { account: 'eve' })
    await endsWithin(() => rig.admin.setAccountPassword({ account_id, password: PASSWORD }), 'eve')
  })

  verifies('AUTH-2', `a suspended tenant ends the tokens of its people, on ${kind}`, async () => {
    const operator = { ...SHARED_CALLER, role: 'operator' } as const
    const call = (key: 'createTenant' | 'suspendTenant' | 'resumeTenant') =>
      rig.gate.dispatch(key, { tenant_id: 'acme' }, { caller: operator })
    await call('createTenant')
    const ofAcme = { caller: { ...SHARED_CALLER, tenantId: 'acme' } }
    const made = await rig.gate.dispatch(
      'createAccount',
      { username: 'wile', role: 'admin', principal: ADA, password: PASSWORD },
      ofAcme,
    )
    expect(made).toMatchObject({ signs_in_as: 'acme/wile' })
    const client = await rig.gate.dispatch(
      'registerClient',
      { name: 'Tool', redirect_uris: [REDIRECT_URI] },
      ofAcme,
    )
    const { client_id: tool } = client as { client_id: string }
    const { access_token: token } = await signIn(rig, tool, { account: 'acme/wile' })
    expect((await rig.as(token).getConfig()).caller).toMatchObject({ tenant_id: 'acme', role: 'admin' })
    await call('suspendTenant')
    rig.clock.shift(60_000)
    await expect(rig.as(token).getConfig()).rejects.toMatchObject({ code: 'forbidden' })
    await expect(signIn(rig, tool, { account: 'acme/wile' })).rejects.toThrow('no form /consent')
    await call('resumeTenant')
    // A browser where somebody is signed in already is asked again, for whom the client is.
    const browser = createBrowser(rig.issuer)
    const toTool = askFor(rig.issuer, tool).url
    await browser.submit(await browser.open(toTool), '/login', { account: 'acme/wile', password: PASSWORD })
    expect((await browser.open(toTool)).text).toContain('Allow Tool?')
    expect((await browser.open(askFor(rig.issuer, clientId).url)).text).toContain('name="password"')
    // A client that a tenant registered is for its own people, and an account for its own tenant's clients.
    await expect(signIn(rig, clientId, { account: 'acme/wile' })).rejects.toThrow('no form /consent')
    await expect(signIn(rig, tool, { account: 'ada' })).rejects.toThrow('no form /consent')
  })

  verifies('AUTH-2', `a revoked client ends its tokens, on ${kind}`, async () => {
    const { client_id } = await rig.admin.registerClient({ name: 'Old', redirect_uris: [REDIRECT_URI] })
    const { access_token: token, refresh_token } = await signIn(rig, client_id)
    await rig.as(token).listTasks({})
    await rig.admin.revokeClient({ client_id })
    rig.clock.shift(60_000)
    await expect(rig.as(token).listTasks({})).rejects.toMatchObject({ code: 'unauthenticated' })
    expect((await refresh(rig.gate.url, client_id, refresh_token)).body['error']).toBe('invalid_client')
    expect((await createBrowser(rig.issuer).open(askFor(rig.issuer, client_id).url)).status).toBe(400)
  })

  verifies(
    'AUTH-2',
    `a token gives what the account may, within what was asked for, on ${kind}`,
    async () => {
      await addAccount('root', { role: 'admin' })
      const scope = 'tasks:read admin:read admin:write'
      const [agent, admin] = [
        await signIn(rig, clientId, { scope }),
        await signIn(rig, clientId, { scope, account: 'root' }),
      ]
      expect([agent['scope'], admin['scope']]).toEqual(['tasks:read', scope])
      expect((await rig.as(admin.access_token).getConfig()).caller.role).toBe('admin')
      await rig.as(admin.access_token).listKeys({})
      const nothing = await createBrowser(rig.issuer).open(
        askFor(rig.issuer, clientId, { scope: 'admin:write' }).url,
      )
      expect(nothing.status).toBe(200)
      const usual = askFor(rig.issuer, clientId, { scope: undefined, resource: undefined })
      const code = (await allow(rig.issuer, usual.url)).searchParams.get('code')!
      const { body } = await exchange(rig.gate.url, { code, verifier: usual.verifier, clientId })
      expect(body['scope']).toBe('tasks:read tasks:write receipts:read receipts:ack')
    },
  )

  verifies('AUTH-2', `who may allow nothing of it can only say no, on ${kind}`, async () => {
    const browser = createBrowser(rig.issuer)
    const { url, state } = askFor(rig.issuer, clientId, { scope: 'admin:write' })
    const login = await browser.open(url)
    const consent = await browser.submit(login, '/login', { account: 'ada', password: PASSWORD })
    expect(consent.text).toContain('none of the rights')
    expect(consent.text).not.toContain('/consent"')
    const { leftFor } = await browser.submit(consent, '/cancel')
    expect(Object.fromEntries(leftFor!.searchParams)).toMatchObject({
      error: 'access_denied',
      state,
      iss: rig.issuer,
    })
    expect((await rig.events()).map(({ event }) => event)).toContain('consent.denied')
  })

  verifies(
    'AUTH-2',
    `metadata says where everything is, whatever the request calls us, on ${kind}`,
    async () => {
      const read = async (path: string) => {
        const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
        return (await fetch(`${rig.beside.url}${path}`, { headers })).json()
      }
      const { issuer } = rig
      const server = (await read('/.well-known/oauth-authorization-server')) as Record<string, unknown>
      expect(server).toEqual({
        issuer,
        authorization_endpoint: `${issuer}/oauth/authorize`,
        token_endpoint: `${issuer}/oauth/token`,
        revocation_endpoint: `${issuer}/oauth/revoke`,
        jwks_uri: `${issuer}/oauth/jwks`,
        scopes_supported: SCOPES,
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
      })
      const resource = {
        authorization_servers: [issuer],
        scopes_supported: SCOPES,
        bearer_methods_supported: ['header'],
      }
      const path = '/.well-known/oauth-protected-resource'
      expect(await read(path)).toMatchObject({ ...resource, resource: issuer })
      expect(await read(`${path}/mcp`)).toMatchObject({ ...resource, resource: `${issuer}/mcp` })
    },
  )

  verifies('AUTH-2', `a refusal says where to sign in and what to ask for, on ${kind}`, async () => {
    const challenge = async (path: string, token?: string) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const init = path === '/mcp' ? { method: 'POST', body: '{}' } : {}
      const more = path === '/mcp' ? { 'content-type': 'application/json' } : {}
      const reply = await fetch(`${rig.gate.url}${path}`, { ...init, headers: { ...headers, ...more } })
      return [reply.status, reply.headers.get('www-authenticate')]
    }
    const metadata = `resource_metadata="${rig.issuer}/.well-known/oauth-protected-resource`
    expect(await challenge('/v1/tasks')).toEqual([401, `Bearer ${metadata}"`])
    expect(await challenge('/mcp')).toEqual([401, `Bearer ${metadata}/mcp"`])
    expect(await challenge('/v1/tasks', 'a.b.c')).toEqual([401, `Bearer error="invalid_token", ${metadata}"`])
    const { access_token: token } = await signIn(rig, clientId)
    expect(await challenge('/v1/admin/keys', token)).toEqual([
      403,
      `Bearer error="insufficient_scope", scope="tasks:read tasks:write admin:read", ${metadata}"`,
    ])
  })

  verifies('AUTH-2', `a new signing key signs, and the old one still proves, on ${kind}`, async () => {
    const { store, clock, issuer } = rig
    const old = await signIn(rig, clientId)
    const keyId = await addKey({ store, secret: SECRET, clock, random: systemRandom })
    rig.clock.shift(30_000)
    const next = await signIn(rig, clientId)
    expect(decodeProtectedHeader(next.access_token).kid).toBe(keyId)
    for (const url of [rig.gate.url, rig.beside.url])
      for (const { access_token: token } of [old, next]) await rig.as(token, url).listTasks({})
    const { keys } = (await (await fetch(`${issuer}/oauth/jwks`)).json()) as {
      keys: Record<string, string>[]
    }
    expect(keys.map(({ kid }) => kid)).toEqual([keyId, decodeProtectedHeader(old.access_token).kid])
    for (const key of keys)
      expect(Object.keys(key).toSorted()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use'])
  })

  verifies(
    'AUTH-2',
    `an access token ends when it says, and then the key that signed it, on ${kind}`,
    async () => {
      const own = await openRig()
      const { store, clock } = own.rig
      const { access_token: token } = await signIn(own.rig, own.clientId)
      await own.rig.as(token).listTasks({})
      const keyId = await addKey({ store, secret: SECRET, clock, random: systemRandom })
      clock.shift(30 * DAY_SECONDS * 1_000)
      await expect(own.rig.as(token).listTasks({})).rejects.toMatchObject({ code: 'unauthenticated' })
      const pruner = createPruner({ store, clock })
      clock.shift(RETIRED_KEPT_MS - 30 * DAY_SECONDS * 1_000 - 60_000)
      await pruner.runOnce()
      expect(await store.listSigningKeys()).toHaveLength(2)
      clock.shift(60_001)
      await pruner.runOnce()
      expect(await store.listSigningKeys()).toMatchObject([{ keyId }])
      await own.rig.close()
    },
  )

  verifies('AUTH-2', `pages run nothing, load nothing and cannot be framed, on ${kind}`, async () => {
    const name = '<img src=x onerror=alert(1)>"\''
    const { client_id } = await rig.admin.registerClient({ name, redirect_uris: ['com.example.app:/back'] })
    const asked = askFor(rig.issuer, client_id, { redirect_uri: 'com.example.app:/back' })
    const browser = createBrowser(rig.issuer)
    const login = await browser.open(asked.url)
    const again = await browser.submit(login, '/login', { account: '"><script>', password: 'wrong' })
    expect(again.status).toBe(401)
    const consent = await browser.submit(again, '/login', { account: 'ada', password: PASSWORD })
    const refused = await browser.open(askFor(rig.issuer, '"><script>alert(1)</script>').url)
    expect(refused.status).toBe(400)
    for (const { text, headers } of [login, again, consent, refused]) {
      expect(text).not.toMatch(/<(script|img)|javascript:|https?:\/\//i)
      const policy = headers.get('content-security-policy')!
      expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'/)
      expect(policy).toContain("frame-ancestors 'none'")
      expect([headers.get('cache-control'), headers.get('x-frame-options')]).toEqual(['no-store', 'DENY'])
    }
    expect(consent.headers.get('content-security-policy')).toContain("form-action 'self' com.example.app:;")
  })

  verifies(
    ['AUTH-2', 'AUD-1'],
    `who signed in with what is on record, and no secret anywhere, on ${kind}`,
    async () => {
      const before = (await rig.events()).length
      const { url, verifier } = askFor(rig.issuer, clientId)
      const code = (await allow(rig.issuer, url)).searchParams.get('code')!
      const { body } = await exchange(rig.gate.url, { code, verifier, clientId })
      const next = await refresh(rig.gate.url, clientId, body.refresh_token)
      const rows = (await rig.events()).slice(before)
      expect(rows.map(({ event, principal, reason }) => [event, principal, reason])).toEqual([
        ['login.succeeded', ADA, `default/ada signed in with client ${clientId}.`],
        ['consent.given', ADA, `default/ada allowed client ${clientId}: tasks:read tasks:write.`],
        [
          'token.issued',
          ADA,
          `Client ${clientId} got a token by authorization_code, scope tasks:read tasks:write, for ${rig.issuer}.`,
        ],
        [
          'token.issued',
          ADA,
          `Client ${clientId} got a token by refresh_token, scope tasks:read tasks:write, for ${rig.issuer}.`,
        ],
      ])
      const [key] = await rig.store.listSigningKeys()
      const secrets = [
        PASSWORD,
        SECRET,
        code,
        verifier,
        body.access_token,
        body.refresh_token,
        next.body.refresh_token,
      ]
      const said = rig.logLines.join('') + JSON.stringify(await rig.events())
      for (const secret of [...secrets, key!.sealed]) expect(said).not.toContain(secret)
      // Five given bytes, which no sealed key has by chance.
      for (const text of [key!.sealed, Buffer.from(key!.sealed, 'base64').toString('latin1')])
        expect(text).not.toContain('"kty"')
      for (const [model, id] of [
        ['AuthorizationCode', code],
        ['RefreshToken', body.refresh_token],
      ] as const) {
        const held = await rig.store.findArtifact(artifactKey(model, id))
        expect(held?.consumedAt).toBeTypeOf('number')
        expect(JSON.stringify(held)).not.toContain(id)
      }
    },
  )

  test('an account is found by its name alone where it is of the default tenant, however it is written', async () => {
    for (const account of ['ada', ' ADA ', 'default/ada']) await signIn(rig, clientId, { account })
    expect(await accountIdOf('ada')).toBeTypeOf('string')
  })
})
