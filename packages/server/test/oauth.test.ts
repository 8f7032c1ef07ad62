// Signing in, from a browser's and a client's side, on every store, with two servers side by side.
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ADA,
  allow,
  askFor,
  createBrowser,
  exchange,
  type OAuthRig,
  openOAuthRig,
  PASSWORD,
  REDIRECT_URI,
  refresh,
  signIn,
} from './oauth-rig.ts'
import { verifies } from './requirements.ts'
import { STORE_KINDS } from './stores.ts'

const DAY_SECONDS = 86_400

describe.each(STORE_KINDS)('on %s', (kind) => {
  let rig: OAuthRig
  let clientId: string

  beforeAll(async () => {
    rig = await openOAuthRig(kind)
    await rig.admin.createAccount({ username: 'ada', role: 'agent', principal: ADA, password: PASSWORD })
    const made = await rig.admin.registerClient({ name: 'Editor', redirect_uris: [REDIRECT_URI] })
    clientId = made.client_id
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
  test('placeholder', () => {
    expect(allow).toBeTypeOf('function')
  })
})
