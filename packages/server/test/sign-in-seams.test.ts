// Where signing in meets the rest: limits and their headers, proxies, and tenants that are suspended.
import { createClient } from '@asyncgate/sdk'
import { afterAll, expect } from 'vitest'
import { SHARED_CALLER } from '../src/auth/shared-key.ts'
import type { ConfigValues } from '../src/config.ts'
import {
  ADA,
  askFor,
  createBrowser,
  type OAuthRig,
  openOAuthRig,
  PASSWORD,
  REDIRECT_URI,
  refresh,
  signIn,
} from './oauth-rig.ts'
import { verifies } from './requirements.ts'
import { STORE_KINDS } from './stores.ts'
import { stateText } from './whole-state.ts'

const OPERATOR = { ...SHARED_CALLER, role: 'operator' } as const
const rigs: OAuthRig[] = []
afterAll(async () => {
  for (const rig of rigs) await rig.close()
})

async function open(kind: (typeof STORE_KINDS)[number], values: ConfigValues = {}): Promise<OAuthRig> {
  const rig = await openOAuthRig(kind, {}, {}, values)
  rigs.push(rig)
  return rig
}

async function editorOf({ admin }: OAuthRig): Promise<string> {
  return (await admin.registerClient({ name: 'Editor', redirect_uris: [REDIRECT_URI] })).client_id
}

const remaining = ({ headers }: Response) => headers.get('x-ratelimit-remaining')

verifies('LIM-1', 'requests to sign in are limited by address, and say so', async () => {
  const limits = { sign_in_requests_per_minute: 8 }
  const rig = await open('memory', { limits, http: { trusted_proxies: ['127.0.0.0/8'] } })
  const clientId = await editorOf(rig)
  const form = { method: 'POST', body: new URLSearchParams({ grant_type: 'authorization_code' }) }
  const ways: [string, RequestInit?][] = [
    [askFor(rig.issuer, clientId).url, { redirect: 'manual' }],
    [`${rig.issuer}/oauth/token`, form],
    [`${rig.issuer}/oauth/revoke`, form],
    [`${rig.issuer}/oauth/jwks`],
    [`${rig.issuer}/.well-known/oauth-authorization-server`],
    [`${rig.issuer}/.well-known/oauth-protected-resource`],
    [`${rig.issuer}/oauth/interaction/nothing`],
    [`${rig.issuer}/oauth/interaction/nothing/login`, form],
  ]
  const from = (address: string, init: RequestInit = {}) => ({
    ...init,
    headers: { 'x-forwarded-for': address },
  })
  const seen = []
  for (const [url, init] of ways) seen.push(await fetch(url, from('203.0.113.9', init)))
  expect(seen.map(remaining)).toEqual(['7', '6', '5', '4', '3', '2', '1', '0'])
  for (const [url, init] of ways) {
    const refused = await fetch(url, from('203.0.113.9', init))
    expect([url, refused.status, remaining(refused)]).toEqual([url, 429, '0'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('x-ratelimit-bucket')).toBe('address:203.0.113.9:sign_in')
  }
  expect((await fetch(ways[3]![0], from('203.0.113.10'))).status).toBe(200)
  const rows = (await rig.events()).filter(({ event }) => event === 'rate_limit.exceeded')
  expect(rows).toMatchObject([{ tenant_id: 'default', principal: null }])
})

verifies('AUTH-2', 'behind a proxy of ours passwords are guessed at from where the client is', async () => {
  const rig = await open('memory', { http: { trusted_proxies: ['127.0.0.0/8'] } })
  const clientId = await editorOf(rig)
  const browser = createBrowser(rig.issuer)
  const page = await browser.open(askFor(rig.issuer, clientId).url)
  const guess = async (account: string, address: string) => {
    const fields = { account, password: 'a wrong password' }
    return (await browser.submit(page, '/login', fields, { 'x-forwarded-for': address })).status
  }
  // One network of IPv6; what the client itself writes before the proxy's word counts for nothing.
  for (let at = 0; at < 50; at += 1)
    expect(await guess(`somebody${at}`, `198.51.100.${at}, 2001:db8::${at}`)).toBe(401)
  expect(await guess('somebody', '2001:db8::ffff')).toBe(429)
  expect(await guess('somebody', '203.0.113.9')).toBe(401)
})

for (const kind of STORE_KINDS) {
  verifies(
    ['AUTH-1', 'AUTH-2', 'AUD-1'],
    `a suspended tenant is shut out whatever it comes with, and is back when it is resumed, on ${kind}`,
    async () => {
      const rig = await open(kind)
      const { gate } = rig
      const tenant = { tenant_id: 'acme' }
      const principal = { principal_kind: 'human', principal_id: 'root' }
      await gate.dispatch('createTenant', tenant, { caller: OPERATOR })
      const made = await gate.dispatch('createTenantKey', { ...tenant, principal }, { caller: OPERATOR })
      const key = (made as { api_key: string }).api_key
      const admin = createClient({ url: gate.url, apiKey: key, retry: false })
      await admin.createAccount({ username: 'ada', role: 'agent', principal: ADA, password: PASSWORD })
      const { client_id } = await admin.registerClient({ name: 'Editor', redirect_uris: [REDIRECT_URI] })
      const tokens = await signIn(rig, client_id, { account: 'acme/ada' })
      await admin.createTask({ type: 'held' })
      const [held] = (await admin.leaseNext({ worker_id: 'w' })).tasks
      const content = `${gate.url}/v1/tasks/${held!.task_id}/result/content`
      const upload = `${content}?worker_id=w&lease_id=${held!.lease_id}&channel=inline`
      const ways = (credential: string): [string, RequestInit][] => {
        const headers = { authorization: `Bearer ${credential}` }
        const json = { ...headers, 'content-type': 'application/json' }
        return [
          [`${gate.url}/v1/config`, { headers }],
          [`${gate.url}/mcp`, { method: 'POST', headers: json, body: '{}' }],
          [content, { headers }],
          [upload, { method: 'PUT', headers, body: 'x' }],
        ]
      }

      await gate.dispatch('suspendTenant', tenant, { caller: OPERATOR })
      rig.clock.shift(31_000)
      const before = await stateText(rig.store, 'acme')
      const seen = (await rig.events()).length
      for (const credential of [key, tokens.access_token]) {
        for (const [url, init] of ways(credential)) {
          const reply = await fetch(url, init)
          expect([url, reply.status, (await reply.text()).includes('is suspended')]).toEqual([url, 403, true])
        }
      }
      const again = await refresh(gate.url, client_id, tokens.refresh_token)
      expect([again.status, again.body.access_token]).toEqual([400, undefined])
      const browser = createBrowser(rig.issuer)
      const page = await browser.open(askFor(rig.issuer, client_id).url)
      const fields = { account: 'acme/ada', password: PASSWORD }
      expect((await browser.submit(page, '/login', fields)).status).toBe(401)
      expect(await stateText(rig.store, 'acme')).toBe(before)
      const events = (await rig.events()).slice(seen).map(({ event }) => event)
      expect(events.filter((event) => event === 'authentication.failed')).toHaveLength(8)

      await gate.dispatch('resumeTenant', tenant, { caller: OPERATOR })
      rig.clock.shift(31_000)
      expect((await fetch(...ways(key)[0]!)).status).toBe(200)
      expect((await signIn(rig, client_id, { account: 'acme/ada' })).access_token).toBeTruthy()
    },
  )
}
