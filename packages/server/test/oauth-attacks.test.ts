// Ways in by OAuth that must stay shut, tried from outside: each is refused, changes nothing, and is on record.
import { createServer } from 'node:http'
import { createPublicKey } from 'node:crypto'
import {
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from 'jose'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { createSigningKeys } from '../src/auth/signing-keys.ts'
import { systemRandom } from '../src/ids.ts'
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
} from './oauth-rig.ts'
import { verifies } from './requirements.ts'
import { STORE_KINDS } from './stores.ts'
import { stateText } from './whole-state.ts'

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

verifies('AUTH-2', 'behind https cookies go over https alone, and to no script', async () => {
  const issuer = 'https://gate.example.org'
  const rig = await openOAuthRig('memory', { issuer })
  const { client_id } = await rig.admin.registerClient({ name: 'Editor', redirect_uris: [REDIRECT_URI] })
  const { url } = askFor(issuer, client_id)
  const reply = await fetch(url.replace(issuer, rig.gate.url), { redirect: 'manual' })
  expect([reply.status, reply.headers.get('location')]).toEqual([
    303,
    expect.stringMatching(/^\/oauth\/interaction\//),
  ])
  const cookies = reply.headers.getSetCookie()
  expect(cookies.length).toBeGreaterThan(2)
  for (const cookie of cookies) expect(cookie).toMatch(/; samesite=lax; secure; httponly$/)
  await rig.close()
})

describe.each(STORE_KINDS)('on %s', (kind) => {
  let rig: OAuthRig
  let clientId: string
  let good: string

  beforeAll(async () => {
    rig = await openOAuthRig(kind)
    for (const [username, role] of [
      ['ada', 'agent'],
      ['eve', 'agent'],
      ['root', 'admin'],
    ] as const)
      await rig.admin.createAccount({ username, role, principal: ADA, password: PASSWORD })
    clientId = (await rig.admin.registerClient({ name: 'Editor', redirect_uris: [REDIRECT_URI] })).client_id
    good = (await signIn(rig, clientId)).access_token
    await rig.as(good).createTask({ type: 'precious' })
  })
  afterAll(() => rig.close())

  /** What the attempt was answered and the events that it left; nothing of the tenant has changed and no token was given out. */
  async function attempt<T>(act: () => Promise<T>): Promise<{ answer: T; events: string[] }> {
    const look = async () => ({
      events: (await rig.events()).length,
      held: (await stateText(rig.store, 'default')) + JSON.stringify(await rig.admin.listKeys({})),
    })
    const before = await look()
    const answer = await act()
    const after = await look()
    expect(after.held).toBe(before.held)
    const events = (await rig.events()).slice(before.events).map(({ event }) => event)
    expect(events).not.toContain('token.issued')
    return { answer, events }
  }

  const call = (token: string, url = rig.gate.url) =>
    fetch(`${url}/v1/tasks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'stolen' }),
    })

  async function expectRefused(what: string, token: string): Promise<void> {
    const { answer, events } = await attempt(() => call(token))
    expect([what, answer.status, events]).toEqual([what, 401, ['authentication.failed']])
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"')
  }

  async function ownKey() {
    const keys = createSigningKeys({
      store: rig.store,
      secret: SECRET,
      clock: rig.clock,
      random: systemRandom,
    })
    const jwk = (await keys.current()).keys[0] as JWK & { kid: string }
    return { jwk, key: await importJWK(jwk, 'RS256') }
  }

  /** Signed with the server's own key: what is refused is refused for what it says. */
  async function signed(claims: object, header: Partial<JWTHeaderParameters> = {}): Promise<string> {
    const { jwk, key } = await ownKey()
    return new SignJWT({ ...decodeJwt(good), ...claims })
      .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: jwk.kid, ...header })
      .sign(key)
  }

  verifies('AUTH-2', `a token of this server is accepted, as those below would be, on ${kind}`, async () => {
    expect(
      (await fetch(`${rig.gate.url}/v1/tasks`, { headers: { authorization: `Bearer ${await signed({})}` } }))
        .status,
    ).toBe(200)
  })

  verifies('AUTH-2', `a token without a signature is refused, on ${kind}`, async () => {
    const [, payload, signature] = good.split('.')
    for (const alg of ['none', 'None', 'NONE', 'nOnE']) {
      const header = base64({ ...decodeProtectedHeader(good), alg })
      await expectRefused(alg, `${header}.${payload}.`)
      await expectRefused(`${alg} with the signature`, `${header}.${payload}.${signature}`)
    }
  })

  verifies('AUTH-2', `a token signed with the public key as a secret is refused, on ${kind}`, async () => {
    const { keys } = (await (await fetch(`${rig.issuer}/oauth/jwks`)).json()) as { keys: JWK[] }
    const publicKey = createPublicKey({ key: keys[0] as never, format: 'jwk' })
    const pem = publicKey.export({ type: 'spki', format: 'pem' })
    const der = publicKey.export({ type: 'spki', format: 'der' })
    for (const secret of [Buffer.from(pem), Buffer.from(pem.trim()), der, Buffer.from(keys[0]!.n!)]) {
      const token = await new SignJWT(decodeJwt(good))
        .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: keys[0]!.kid! })
        .sign(secret)
      await expectRefused('HS256', token)
    }
  })

  verifies(
    'AUTH-2',
    `a token for another, from another, too old or too young is refused, on ${kind}`,
    async () => {
      const now = Math.floor(Date.now() / 1_000)
      const { sub: other } = decodeJwt((await signIn(rig, clientId, { account: 'eve' })).access_token)
      const claims: Record<string, object> = {
        'another audience': { aud: 'https://other.example' },
        'no audience': { aud: undefined },
        'an audience that begins alike': { aud: `${rig.issuer}.evil.example` },
        'a path of ours that is no resource': { aud: `${rig.issuer}/v1` },
        'another issuer': { iss: 'https://other.example' },
        'no issuer': { iss: undefined },
        expired: { exp: now - 1 },
        'without an end': { exp: undefined },
        'not yet': { nbf: now + 3_600 },
        'an end that is no number': { exp: 'never' },
        'another account': { sub: other },
        'no account': { sub: undefined },
        'a grant that never was': { grant_id: 'never' },
        'no grant': { grant_id: undefined },
      }
      for (const [what, over] of Object.entries(claims)) await expectRefused(what, await signed(over))
      await expectRefused('no access token', await signed({}, { typ: 'JWT' }))
      await expectRefused(
        'critical and unknown',
        await signed({}, { crit: ['x'], x: 1 }).catch(() => 'a.b.c'),
      )
    },
  )

  verifies('AUTH-2', `rights are the account's, whatever a token says, on ${kind}`, async () => {
    const token = await signed({
      role: 'operator',
      tenant_id: 'other',
      principal_id: 'root',
      scope: 'tasks:read admin:write',
    })
    expect((await rig.as(token).getConfig()).caller).toEqual({
      tenant_id: 'default',
      role: 'agent',
      scopes: ['tasks:read'],
    })
  })

  verifies('AUTH-2', `a key that the token brings or points to is not used, on ${kind}`, async () => {
    let visits = 0
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
    const jwk = await exportJWK(publicKey)
    const elsewhere = createServer((_request, reply) => {
      visits += 1
      reply.end(JSON.stringify({ keys: [{ ...jwk, kid: 'mine' }] }))
    })
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(elsewhere.address() as { port: number }).port}/jwks`
    const { kid } = decodeProtectedHeader(good)
    const headers = [
      { kid: 'mine', jku: url },
      { kid: 'mine', x5u: url },
      { kid: 'mine', jwk },
      { kid, jwk },
      { kid },
      {},
    ]
    for (const header of headers) {
      const token = await new SignJWT(decodeJwt(good))
        .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', ...header } as JWTHeaderParameters)
        .sign(privateKey)
      await expectRefused(JSON.stringify(header).slice(0, 40), token)
    }
    expect(visits).toBe(0)
    await new Promise((resolve) => elsewhere.close(resolve))
  })

  verifies('AUTH-2', `what is no access token opens nothing, on ${kind}`, async () => {
    const { refresh_token: token } = await signIn(rig, clientId)
    const { url } = askFor(rig.issuer, clientId)
    const code = (await allow(rig.issuer, url)).searchParams.get('code')!
    const [head, payload, signature] = good.split('.')
    const texts = [
      token,
      code,
      `${head}.${payload}`,
      `${head}.${payload}.${signature!.slice(0, -4)}AAAA`,
      '..',
      'a.b.c',
    ]
    for (const text of texts) {
      const { answer, events } = await attempt(() => call(text))
      expect([answer.status, events]).toEqual([401, ['authentication.failed']])
    }
    const inUrl = await attempt(() => fetch(`${rig.gate.url}/v1/tasks?access_token=${good}`))
    expect([inUrl.answer.status, inUrl.events]).toEqual([401, ['authentication.failed']])
  })

  /** A code that was given out, with its verifier. */
  async function freshCode(over: Record<string, string | undefined> = {}) {
    const { url, verifier } = askFor(rig.issuer, clientId, over)
    return { code: (await allow(rig.issuer, url)).searchParams.get('code')!, verifier, clientId }
  }

  verifies('AUTH-2', `a code that is used again ends what it gave, on ${kind}`, async () => {
    const given = await freshCode()
    const first = await exchange(rig.gate.url, given)
    await rig.as(first.body.access_token).listTasks({})
    const { answer, events } = await attempt(() => exchange(rig.beside.url, given))
    expect([answer.status, answer.body['error']]).toEqual([400, 'invalid_grant'])
    expect(events.toSorted()).toEqual(['grant.revoked', 'token.reused'])
    rig.clock.shift(60_000)
    for (const url of [rig.gate.url, rig.beside.url])
      expect((await call(first.body.access_token, url)).status).toBe(401)
    expect((await refresh(rig.gate.url, clientId, first.body.refresh_token)).body['error']).toBe(
      'invalid_grant',
    )
  })

  verifies(
    'AUTH-2',
    `one code, exchanged by many at once on two servers, gives one grant, on ${kind}`,
    async () => {
      for (let round = 0; round < 5; round += 1) {
        const given = await freshCode()
        const urls = [
          rig.gate.url,
          rig.beside.url,
          rig.gate.url,
          rig.beside.url,
          rig.gate.url,
          rig.beside.url,
        ]
        const before = (await rig.events()).length
        const replies = await Promise.all(urls.map((url) => exchange(url, given)))
        expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
          200, 400, 400, 400, 400, 400,
        ])
        for (const { status, body } of replies)
          if (status === 400) expect(body['error']).toBe('invalid_grant')
        const events = (await rig.events()).slice(before).map(({ event }) => event)
        expect(events.filter((event) => event === 'token.issued')).toHaveLength(1)
        expect(events).toContain('token.reused')
      }
    },
  )

  verifies('AUTH-2', `a code is of no use to who lacks its verifier, on ${kind}`, async () => {
    const other = await rig.admin.registerClient({ name: 'Other', redirect_uris: [REDIRECT_URI] })
    const given = await freshCode()
    const wrong: [string, Record<string, string>, string][] = [
      ['another verifier', { verifier: 'x'.repeat(43) }, 'invalid_grant'],
      ['another client', { clientId: other.client_id }, 'invalid_grant'],
      ['an unknown client', { clientId: 'nobody' }, 'invalid_client'],
      ['another address', { redirect_uri: 'https://editor.example.org/back' }, 'invalid_grant'],
    ]
    for (const [what, over, error] of wrong) {
      const { answer, events } = await attempt(() => exchange(rig.gate.url, { ...given, ...over }))
      expect([what, answer.body['error'], events]).toEqual([what, error, ['token.refused']])
    }
    const { verifier: _verifier, ...without } = given
    const bare = {
      grant_type: 'authorization_code',
      client_id: clientId,
      code: without.code,
      redirect_uri: REDIRECT_URI,
    }
    const { answer, events } = await attempt(() => post(`${rig.gate.url}/oauth/token`, bare))
    expect([answer.body['error'], events]).toEqual(['invalid_grant', ['token.refused']])
    expect((await exchange(rig.gate.url, given)).status).toBe(200)
    const elsewhere = { ...(await freshCode()), resource: 'https://other.example' }
    const foreign = await attempt(() => exchange(rig.gate.url, elsewhere))
    expect([foreign.answer.body['error'], foreign.events]).toEqual(['invalid_target', ['token.refused']])
  })

  verifies('AUTH-2', `no code is given without PKCE of the one good kind, on ${kind}`, async () => {
    const tries: [string, Record<string, string | undefined>][] = [
      ['none', { code_challenge: undefined, code_challenge_method: undefined }],
      ['plain', { code_challenge_method: 'plain' }],
      ['plain by leaving it out', { code_challenge_method: undefined }],
      ['too short', { code_challenge: 'short' }],
    ]
    for (const [what, over] of tries) {
      const { url, state } = askFor(rig.issuer, clientId, over)
      const { answer, events } = await attempt(() => createBrowser(rig.issuer).open(url))
      const sent = Object.fromEntries(answer.leftFor?.searchParams ?? [])
      expect([what, sent['error'], sent['state'], sent['iss'], sent['code']]).toEqual([
        what,
        'invalid_request',
        state,
        rig.issuer,
        undefined,
      ])
      expect(events).toEqual(['authorization.refused'])
    }
  })

  verifies('AUTH-2', `nothing but a code is given out, on ${kind}`, async () => {
    for (const response_type of ['token', 'id_token', 'code token', 'none']) {
      const { answer, events } = await attempt(() =>
        createBrowser(rig.issuer).open(askFor(rig.issuer, clientId, { response_type, nonce: 'n' }).url),
      )
      expect(answer.leftFor?.href ?? answer.text).toMatch(/unsupported_response_type|invalid_request/)
      expect(events).toEqual(['authorization.refused'])
    }
    for (const grant_type of [
      'password',
      'client_credentials',
      'urn:ietf:params:oauth:grant-type:device_code',
    ]) {
      const fields = { grant_type, client_id: clientId, username: 'ada', password: PASSWORD }
      const { answer, events } = await attempt(() => post(`${rig.gate.url}/oauth/token`, fields))
      expect([answer.body['error'], events]).toEqual(['unsupported_grant_type', ['token.refused']])
    }
  })

  verifies('AUTH-2', `nobody is sent anywhere but to the registered address, on ${kind}`, async () => {
    const tricks = [
      'https://editor.example.org/back',
      'https://editor.example.org/back?keep=1&more=1',
      'https://editor.example.org/back?keep=1#x',
      'https://editor.example.org/back/?keep=1',
      'https://editor.example.org/Back?keep=1',
      'https://editor.example.org/x/../back?keep=1',
      'https://editor.example.org/%62ack?keep=1',
      'https://editor.example.org:443/back?keep=1',
      'https://editor.example.org.evil.example/back?keep=1',
      'https://editor.example.org@evil.example/back?keep=1',
      'https://evil.example/back?keep=1',
      'https://EDITOR.example.org/back?keep=1',
      'http://editor.example.org/back?keep=1',
      '//evil.example/back',
      'javascript:alert(1)',
      '',
    ]
    for (const redirect_uri of [...tricks, undefined]) {
      const { url } = askFor(rig.issuer, clientId, { redirect_uri })
      const { answer, events } = await attempt(() => createBrowser(rig.issuer).open(url))
      expect([redirect_uri, answer.leftFor, answer.status]).toEqual([redirect_uri, null, 400])
      expect(new Set(events)).toEqual(new Set(['authorization.refused']))
    }
    const twice = `${askFor(rig.issuer, clientId).url}&redirect_uri=https://evil.example/`
    const { answer } = await attempt(() => createBrowser(rig.issuer).open(twice))
    expect([answer.leftFor, answer.status]).toEqual([null, 400])
  })

  verifies(
    'AUTH-2',
    `an application on the person's machine has its path there, on any port, on ${kind}`,
    async () => {
      const made = await rig.admin.registerClient({ name: 'Shell', redirect_uris: ['http://127.0.0.1/back'] })
      const to = async (redirect_uri: string) =>
        (await createBrowser(rig.issuer).open(askFor(rig.issuer, made.client_id, { redirect_uri }).url))
          .status
      expect(await to('http://127.0.0.1:49152/back')).toBe(200)
      for (const uri of [
        'http://127.0.0.1:49152/other',
        'http://localhost:49152/back',
        'https://127.0.0.1/back',
      ])
        expect([uri, await to(uri)]).toEqual([uri, 400])
    },
  )

  verifies('AUTH-2', `a refresh token that is used again ends the grant, on ${kind}`, async () => {
    const first = await signIn(rig, clientId)
    const second = (await refresh(rig.gate.url, clientId, first.refresh_token)).body
    await rig.as(second.access_token).listTasks({})
    const { answer, events } = await attempt(() => refresh(rig.beside.url, clientId, first.refresh_token))
    expect([answer.status, answer.body['error']]).toEqual([400, 'invalid_grant'])
    expect(events.toSorted()).toEqual(['grant.revoked', 'token.reused'])
    expect((await refresh(rig.gate.url, clientId, second.refresh_token)).body['error']).toBe('invalid_grant')
    rig.clock.shift(60_000)
    for (const url of [rig.gate.url, rig.beside.url])
      for (const { access_token: token } of [first, second]) expect((await call(token, url)).status).toBe(401)
  })

  verifies('AUTH-2', `a refresh token that two use at once ends the grant, on ${kind}`, async () => {
    for (let round = 0; round < 5; round += 1) {
      const first = await signIn(rig, clientId)
      const urls = [rig.gate.url, rig.beside.url, rig.gate.url, rig.beside.url]
      const replies = await Promise.all(urls.map((url) => refresh(url, clientId, first.refresh_token)))
      const won = replies.filter(({ status }) => status === 200)
      expect(won.length).toBeLessThanOrEqual(1)
      rig.clock.shift(60_000)
      for (const { body } of won) {
        expect((await call(body.access_token)).status).toBe(401)
        expect((await refresh(rig.gate.url, clientId, body.refresh_token)).status).toBe(400)
      }
      expect((await rig.events()).map(({ event }) => event)).toContain('token.reused')
    }
  })

  verifies('AUTH-2', `another client can neither use nor revoke a refresh token, on ${kind}`, async () => {
    const other = await rig.admin.registerClient({ name: 'Other', redirect_uris: [REDIRECT_URI] })
    const mine = await signIn(rig, clientId)
    const { answer, events } = await attempt(() => refresh(rig.gate.url, other.client_id, mine.refresh_token))
    expect([answer.body['error'], events]).toEqual(['invalid_grant', ['token.refused']])
    const fields = { token: mine.refresh_token, client_id: other.client_id }
    expect((await attempt(() => post(`${rig.gate.url}/oauth/revoke`, fields))).events).toEqual([])
    expect((await refresh(rig.gate.url, clientId, mine.refresh_token)).status).toBe(200)
  })

  verifies(
    'AUTH-2',
    `a form is good only in the browser and on the page that it belongs to, on ${kind}`,
    async () => {
      const [browser, other] = [createBrowser(rig.issuer), createBrowser(rig.issuer)]
      const page = await browser.open(askFor(rig.issuer, clientId).url)
      const strange = await other.open(askFor(rig.issuer, clientId).url)
      const right = { account: 'ada', password: PASSWORD }
      const tries = [
        () => other.submit(page, '/login', right),
        () => createBrowser(rig.issuer).submit(page, '/login', right),
        () => browser.submit(page, '/login', { ...right, form_token: '' }),
        () =>
          browser.submit(page, '/login', {
            ...right,
            form_token: /value="([\w-]{43})"/.exec(strange.text)![1]!,
          }),
        () => browser.submit(page, '/login', right, { origin: 'https://evil.example' }),
        () => browser.submit(page, '/login', right, { origin: 'null' }),
        () => browser.submit({ ...page, text: page.text.replaceAll('/login', '/consent') }, '/consent'),
      ]
      for (const [at, act] of tries.entries()) {
        const { answer, events } = await attempt(act)
        const isForeign = answer.status === 403 // by the guard of all pages
        const left = isForeign ? ['authorization.failed'] : []
        expect([at, answer.status, answer.leftFor, events]).toEqual([at, isForeign ? 403 : 400, null, left])
      }
      expect((await browser.submit(page, '/login', right)).text).toContain('Allow Editor?')
    },
  )

  verifies('AUTH-2', `no form, however bad, is an error of ours, on ${kind}`, async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const requests: [string, RequestInit][] = [
      ['/oauth/interaction/x', {}],
      ['/oauth/interaction/%00', {}],
      ['/oauth/interaction/x/login', { method: 'POST' }],
      ['/oauth/interaction/x/login', { method: 'POST', headers: form, body: '%zz=%ff&a[]=1&__proto__=1' }],
      ['/oauth/interaction/x/login', { method: 'POST', headers: form, body: 'x'.repeat(20_000) }],
      [
        '/oauth/interaction/x/consent',
        { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' },
      ],
      ['/oauth/authorize', {}],
      ['/oauth/authorize?client_id=%00&redirect_uri=%00&scope=%00', {}],
      [`/oauth/authorize?client_id=${clientId}&scope=a&scope=b`, {}],
      ['/oauth/authorize/made-up', {}],
      ['/oauth/token', { method: 'POST' }],
      [
        '/oauth/token',
        { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"grant_type":1}' },
      ],
      [
        '/oauth/token',
        { method: 'POST', headers: form, body: 'grant_type=authorization_code&code=%00&client_id=%00' },
      ],
      ['/oauth/token', { method: 'POST', headers: form, body: `a=${'x'.repeat(100_000)}` }],
      ['/oauth/revoke', { method: 'POST', headers: form, body: `token=%00&client_id=${clientId}` }],
      ['/oauth/session/end/confirm', { method: 'POST', headers: form, body: 'xsrf=x' }],
      ['/oauth/token', {}],
      ['/oauth/nothing', {}],
      ['/.well-known/openid-configuration', {}],
    ]
    for (const [path, init] of requests) {
      const { answer } = await attempt(() => fetch(`${rig.gate.url}${path}`, { ...init, redirect: 'manual' }))
      expect([path, answer.status < 500, answer.status]).toEqual([path, true, answer.status])
      expect(await answer.text()).not.toMatch(/at .*\.[jt]s:|node_modules|stack/)
      expect(answer.headers.get('x-request-id')).toBeTruthy()
    }
    expect(rig.logLines.filter((line) => line.includes('on our side'))).toEqual([])
  })

  verifies('AUTH-2', `guessing a password ends soon, and tells nothing, on ${kind}`, async () => {
    const browser = createBrowser(rig.issuer)
    const page = await browser.open(askFor(rig.issuer, clientId).url)
    const guess = (account: string, password = 'a wrong password') =>
      browser.submit(page, '/login', { account, password })
    const told = ({ text }: { text: string }) => /role="alert">([^<]*)</.exec(text)?.[1]
    const { answer, events } = await attempt(async () => {
      const known = await guess('root')
      const unknown = await guess('nobody')
      expect([known.status, told(known)]).toEqual([unknown.status, told(unknown)])
      return Promise.all(Array.from({ length: 20 }, (_, at) => guess(at % 2 ? 'root' : 'DEFAULT/root')))
    })
    expect(answer.filter(({ status }) => status === 401)).toHaveLength(9)
    expect(answer.filter(({ status }) => status === 429)).toHaveLength(11)
    expect(new Set(events)).toEqual(new Set(['login.failed']))
    expect(events).toHaveLength(22)
    const right = await guess('root', PASSWORD)
    expect([right.status, Number(right.headers.get('retry-after')) > 0]).toEqual([429, true])
    // Others are not kept out, and in a while neither is the one.
    await signIn(rig, clientId, { account: 'ada' })
    rig.clock.shift(15 * 60_000)
    await signIn(rig, clientId, { account: 'root' })
  })

  verifies('AUTH-2', `many accounts guessed at from one address are too many, on ${kind}`, async () => {
    const browser = createBrowser(rig.issuer)
    const page = await browser.open(askFor(rig.issuer, clientId).url)
    const guess = (account: string) =>
      browser.submit(page, '/login', { account, password: 'a wrong password' })
    const replies = []
    for (let at = 0; at < 60; at += 1) replies.push((await guess(`somebody${at}`)).status)
    expect([replies.filter((status) => status === 401).length, replies.at(-1)]).toEqual([50, 429])
    rig.clock.shift(15 * 60_000)
  })

  verifies('AUTH-2', `a client's document is not fetched from private addresses, on ${kind}`, async () => {
    const urls = [
      'https://127.0.0.1/c',
      'https://localhost/c',
      'https://[::1]/c',
      'https://169.254.169.254/c',
      'https://10.0.0.1/c',
    ]
    for (const id of [...urls, 'http://example.org/c', 'https://user@example.org/c', 'ftp://example.org/c']) {
      const { answer, events } = await attempt(() =>
        createBrowser(rig.issuer).open(askFor(rig.issuer, id).url),
      )
      expect([id, answer.status, answer.leftFor]).toEqual([id, 400, null])
      expect(answer.text).toContain('invalid_client')
      expect(events).toEqual(['authorization.refused'])
    }
  })
})
