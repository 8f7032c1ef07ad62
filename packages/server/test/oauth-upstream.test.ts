// Signing in at another OpenID provider: a real one, with pages of its own, which the test starts.
import { createServer, type Server } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  ADA,
  askFor,
  createBrowser,
  exchange,
  freePort,
  type OAuthRig,
  openOAuthRig,
  PASSWORD,
  REDIRECT_URI,
  type Shown,
} from './oauth-rig.ts'
import { verifies } from './requirements.ts'

const CLIENT = { client_id: 'asyncgate', client_secret: 'a-secret:of+two/100%' }

let rig: OAuthRig
let upstream: Server
let issuer: string
let clientId: string

beforeAll(async () => {
  issuer = `http://127.0.0.1:${await freePort()}`
  rig = await openOAuthRig('sqlite', {
    upstream_issuer: issuer,
    upstream_client_id: CLIENT.client_id,
    upstream_client_secret: CLIENT.client_secret,
  })
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: [`${rig.issuer}/oauth/callback`] }],
    jwks: { keys: [await exportJWK(privateKey)] },
    cookies: { keys: ['of the test'] },
    pkce: { required: () => true },
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  })
  upstream = createServer((request, reply) => void provider.callback()(request, reply))
  await new Promise<void>((resolve) => upstream.listen(Number(new URL(issuer).port), '127.0.0.1', resolve))
  const whom = { role: 'agent', principal: ADA } as const
  await rig.admin.createAccount({ username: 'ada', ...whom, subject: 'ada-at-work' })
  await rig.admin.createAccount({ username: 'eve', ...whom, subject: 'eve-at-work' })
  await rig.admin.createAccount({ username: 'old', ...whom, password: PASSWORD })
  clientId = (await rig.admin.registerClient({ name: 'Editor', redirect_uris: [REDIRECT_URI] })).client_id
})
afterAll(async () => {
  await rig.close()
  upstream.closeAllConnections()
  await new Promise((resolve) => upstream.close(resolve))
})

/** From our login page to the page that answers what the other provider said. */
async function goRound(account: string, subject: string) {
  const asked = askFor(rig.issuer, clientId)
  const browser = createBrowser(rig.issuer, issuer)
  const login = await browser.open(asked.url)
  expect(login.text).toContain(`Sign in at ${new URL(issuer).host}`)
  expect(login.headers.get('content-security-policy')).toContain(issuer)
  const shown = { ...login, text: login.text.replaceAll('/login"', '/upstream"') }
  const there = await browser.submit(shown, '/upstream', { account })
  expect(there.url).toMatch(new RegExp(`^${issuer}/interaction/`))
  const consent = await browser.submit(there, '', { prompt: 'login', login: subject, password: 'any' })
  const back = await browser.submit(consent, '', { prompt: 'consent' })
  return { back, browser, asked }
}

const problemOf = ({ text }: Shown) => /role="alert">([^<]*)</.exec(text)?.[1]

verifies('AUTH-2', 'a person signs in at the OpenID provider and allows here', async () => {
  const { back, browser, asked } = await goRound('ada', 'ada-at-work')
  expect(back.text).toContain('default/ada')
  const { leftFor } = await browser.submit(back, '/consent')
  const code = leftFor!.searchParams.get('code')!
  const { body } = await exchange(rig.gate.url, { code, verifier: asked.verifier, clientId })
  expect((await rig.as(body.access_token).getConfig()).caller).toMatchObject({ role: 'agent' })
  expect((await rig.events()).map(({ event }) => event)).toContain('login.succeeded')
})

verifies('AUTH-2', 'the word of the OpenID provider is good for its own subject alone', async () => {
  for (const [account, subject] of [
    ['eve', 'ada-at-work'],
    ['nobody', 'ada-at-work'],
    ['old', 'old'],
    ['ada', 'ADA-AT-WORK'],
  ] as const) {
    const { back } = await goRound(account, subject)
    expect([back.status, problemOf(back)]).toEqual([
      401,
      'The OpenID provider did not say that this account is yours.',
    ])
    expect((await rig.events()).at(-1)).toMatchObject({ event: 'login.failed' })
  }
})

verifies('AUTH-2', 'what comes back from there is good once, for the browser that went', async () => {
  const browser = createBrowser(rig.issuer, issuer)
  const login = await browser.open(askFor(rig.issuer, clientId).url)
  const shown = { ...login, text: login.text.replaceAll('/login"', '/upstream"') }
  const there = await createReturn(browser, shown)
  const thief = createBrowser(rig.issuer, issuer)
  await thief.open(askFor(rig.issuer, clientId).url)
  expect((await thief.open(there)).status).toBe(400)
  expect((await thief.open(there.replace(/state=[^&]+/, 'state=made-up'))).status).toBe(400)
  expect((await thief.open(`${rig.issuer}/oauth/callback?state=a&state=b&code=c`)).status).toBe(400)
  expect((await browser.open(there)).text).toContain('Allow Editor?')
  expect((await browser.open(there)).status).toBe(400)
})

/** The address that the provider sends the browser back to, before it goes there. */
async function createReturn(browser: ReturnType<typeof createBrowser>, shown: Shown): Promise<string> {
  const there = await browser.submit(shown, '/upstream', { account: 'ada' })
  const consent = await browser.submit(there, '', { prompt: 'login', login: 'ada-at-work', password: 'any' })
  browser.homes.delete(rig.issuer)
  const { leftFor } = await browser.submit(consent, '', { prompt: 'consent' })
  browser.homes.add(rig.issuer)
  return leftFor!.href
}

test('an account without a password is not entered with one', async () => {
  const browser = createBrowser(rig.issuer)
  const login = await browser.open(askFor(rig.issuer, clientId).url)
  for (const password of ['', 'of nobody', PASSWORD])
    expect((await browser.submit(login, '/login', { account: 'ada', password })).status).toBe(401)
})

test('a provider that cannot be reached is said to be, and a password still does', async () => {
  const nowhere = `http://127.0.0.1:${await freePort()}`
  const own = await openOAuthRig('memory', { upstream_issuer: nowhere, upstream_client_id: 'x' })
  await own.admin.createAccount({ username: 'old', role: 'agent', principal: ADA, password: PASSWORD })
  const made = await own.admin.registerClient({ name: 'Editor', redirect_uris: [REDIRECT_URI] })
  const browser = createBrowser(own.issuer)
  const login = await browser.open(askFor(own.issuer, made.client_id).url)
  const shown = { ...login, text: login.text.replaceAll('/login"', '/upstream"') }
  const failed = await browser.submit(shown, '/upstream', { account: 'old' })
  expect([failed.status, problemOf(failed)]).toEqual([
    502,
    'The OpenID provider cannot be reached just now. Try again in a moment.',
  ])
  expect((await browser.submit(failed, '/login', { account: 'old', password: PASSWORD })).text).toContain(
    'Allow Editor?',
  )
  await own.close()
})
