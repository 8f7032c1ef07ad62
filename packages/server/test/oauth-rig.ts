// For the tests of signing in: servers with OAuth on one store, and a browser that keeps cookies, follows redirects within the
// server and fills in forms.
import { hash, randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { type Client, createClient } from '@asyncgate/sdk'
import { systemClock } from '../src/clock.ts'
import { type ConfigValues, configOf } from '../src/config.ts'
import { type GateParts, type RunningGate, startGate } from '../src/gate.ts'
import { createLog } from '../src/log.ts'
import { CHEAP } from './api-key.ts'
import { openTestStore, type StoreKind } from './stores.ts'

export const SHARED = 'the-shared-key-of-the-test'
export const SECRET = 'the secret of the test'.replaceAll(' ', '-').padEnd(32, '-')
export const PASSWORD = 'correct horse battery staple'
export const REDIRECT_URI = 'https://editor.example.org/back?keep=1'
export const ADA = { principal_kind: 'human', principal_id: 'ada' } as const

/** The machine's clock, which the library reads too, with an offset for what reads ours. */
export function createShiftedClock() {
  let offsetMs = 0
  return {
    now: () => Date.now() + offsetMs,
    after: systemClock.after,
    shift: (ms: number) => {
      offsetMs += ms
    },
  }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

export interface OAuthRig {
  readonly gate: RunningGate
  /** A second server of the same issuer, on the same data. */
  readonly beside: RunningGate
  readonly issuer: string
  readonly clock: ReturnType<typeof createShiftedClock>
  readonly admin: Client
  readonly logLines: readonly string[]
  readonly store: RunningGate['store']
  as(token: string, url?: string): Client
  events(): Promise<{ event: string; reason: string; principal: unknown; tenant_id: string }[]>
  close(): Promise<void>
}

export async function openOAuthRig(
  kind: StoreKind,
  oauth: NonNullable<ConfigValues['oauth']> = {},
  parts: Partial<GateParts> = {},
  values: ConfigValues = {},
): Promise<OAuthRig> {
  const opened = await openTestStore(kind)
  const port = await freePort()
  const issuer = `http://127.0.0.1:${port}`
  const clock = createShiftedClock()
  const logLines: string[] = []
  const start = async (at: number, store: RunningGate['store']) => {
    const config = configOf({
      port: at,
      auth: { api_key: SHARED },
      oauth: { issuer, secret: SECRET, ...oauth },
      lease: { sweep_interval_seconds: 3_600 },
      limits: { sign_in_requests_per_minute: 0 }, // a test is one address, and in a hurry
      ...values,
    })
    return startGate(config, {
      clock,
      store: { ...store, close: async () => {} },
      hashCost: CHEAP,
      log: createLog(config, { write: (line) => logLines.push(line) }),
      ...parts,
    })
  }
  const gate = await start(port, opened.store)
  const beside = await start(0, await opened.beside())
  const as = (apiKey: string, url = gate.url) => createClient({ url, apiKey, retry: false })
  const admin = as(SHARED)
  return {
    ...{ gate, beside, issuer, clock, admin, logLines, as, store: opened.store },
    events: async () => {
      await gate.audit.settled()
      await beside.audit.settled()
      const rows = []
      for (let cursor: string | undefined; ; ) {
        const page = await admin.listAudit({ limit: 200, ...(cursor && { cursor }) })
        rows.push(...page.audit)
        if (page.next_cursor === null) return rows.toReversed()
        cursor = page.next_cursor
      }
    },
    close: async () => {
      await gate.stop()
      await beside.stop()
      await opened.dispose()
    },
  }
}

export interface Shown {
  readonly status: number
  readonly url: string
  readonly headers: Headers
  readonly text: string
  /** Where it would go, if that is not this server. */
  readonly leftFor: URL | null
}

export interface Browser {
  /** The origins that it visits; it is sent elsewhere and does not go. */
  readonly homes: Set<string>
  open(url: string): Promise<Shown>
  /** Sends the form of the page whose action ends so, with these fields filled in. */
  submit(
    page: Shown,
    action: string,
    fields?: Record<string, string>,
    headers?: Record<string, string>,
  ): Promise<Shown>
}

const REDIRECTS = [301, 302, 303, 307, 308]

export function createBrowser(...home: string[]): Browser {
  const homes = new Set(home)
  const cookies = new Map<string, { value: string; path: string }>()

  function keepCookies(url: URL, headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split('; ')
      const name = pair.slice(0, pair.indexOf('='))
      const path = attributes.find((one) => one.startsWith('path='))?.slice('path='.length) ?? '/'
      const isGone = attributes.some((one) => one.startsWith('expires=Thu, 01 Jan 1970'))
      const key = `${url.origin} ${path} ${name}`
      if (isGone) cookies.delete(key)
      else cookies.set(key, { value: pair, path: `${url.origin}${path}` })
    }
  }

  async function visit(address: string, init: RequestInit = {}): Promise<Shown> {
    const url = new URL(address)
    if (!homes.has(url.origin))
      return { status: 0, url: address, headers: new Headers(), text: '', leftFor: url }
    const sent = [...cookies.values()]
      .filter(({ path }) => url.href.startsWith(path))
      .map(({ value }) => value)
    const headers = {
      ...(init.headers as Record<string, string>),
      accept: 'text/html',
      cookie: sent.join('; '),
    }
    const reply = await fetch(url, { ...init, headers, redirect: 'manual' })
    keepCookies(url, reply.headers)
    const text = await reply.text()
    const location = reply.headers.get('location')
    if (location !== null && REDIRECTS.includes(reply.status)) return visit(new URL(location, url).href)
    return { status: reply.status, url: url.href, headers: reply.headers, text, leftFor: null }
  }

  return {
    homes,
    open: (url) => visit(url),
    submit: (page, action, fields = {}, headers = {}) => {
      const form = page.text.split('<form').find((one) => one.includes(`action="`) && one.includes(action))
      const target = new RegExp(`action="([^"]*${action})"`).exec(page.text)?.[1]
      if (form === undefined || target === undefined) throw new Error(`no form ${action} in: ${page.text}`)
      const hidden = [...form.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)]
      const body = new URLSearchParams({
        ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])),
        ...fields,
      })
      const own = { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(page.url).origin }
      return visit(new URL(target, page.url).href, {
        method: 'POST',
        body: body.toString(),
        headers: { ...own, ...headers },
      })
    },
  }
}

export interface Asked {
  readonly url: string
  readonly verifier: string
  readonly state: string
}

/** What a client sends a browser to. */
export function askFor(
  issuer: string,
  clientId: string,
  over: Record<string, string | undefined> = {},
): Asked {
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(8).toString('hex')
  const asked = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    scope: 'tasks:read tasks:write',
    resource: issuer,
    state,
    code_challenge: hash('sha256', verifier, 'base64url'),
    code_challenge_method: 'S256',
    ...over,
  }
  const given = Object.entries(asked).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { url: `${issuer}/oauth/authorize?${new URLSearchParams(given).toString()}`, verifier, state }
}

/** Signs in and allows; where the browser is sent then. */
export async function allow(
  issuer: string,
  url: string,
  { account = 'ada', password = PASSWORD, browser = createBrowser(issuer) } = {},
): Promise<URL> {
  let page = await browser.open(url)
  if (page.text.includes('name="password"'))
    page = await browser.submit(page, '/login', { account, password })
  const done = await browser.submit(page, '/consent')
  if (done.leftFor === null) throw new Error(`not sent back, but shown ${done.status}: ${done.text}`)
  return done.leftFor
}

export interface TokenReply {
  readonly status: number
  readonly body: Record<string, unknown> & { access_token: string; refresh_token: string }
}

export async function post(url: string, fields: Record<string, string>): Promise<TokenReply> {
  const reply = await fetch(url, { method: 'POST', body: new URLSearchParams(fields) })
  const text = await reply.text()
  return { status: reply.status, body: (text === '' ? {} : JSON.parse(text)) as TokenReply['body'] }
}

export function exchange(
  url: string,
  {
    code,
    verifier,
    clientId,
    ...over
  }: { code: string; verifier: string; clientId: string } & Record<string, string>,
): Promise<TokenReply> {
  return post(`${url}/oauth/token`, {
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    code_verifier: verifier,
    redirect_uri: REDIRECT_URI,
    ...over,
  })
}

/** The whole way, from nothing to tokens. */
export async function signIn(
  { issuer, gate }: Pick<OAuthRig, 'issuer' | 'gate'>,
  clientId: string,
  { account = 'ada', scope = 'tasks:read tasks:write' }: { account?: string; scope?: string } = {},
): Promise<TokenReply['body']> {
  const { url, verifier } = askFor(issuer, clientId, { scope })
  const code = (await allow(issuer, url, { account })).searchParams.get('code')!
  const { status, body } = await exchange(gate.url, { code, verifier, clientId })
  if (status !== 200) throw new Error(`no token, but ${status}: ${JSON.stringify(body)}`)
  return body
}

export function refresh(url: string, clientId: string, token: string): Promise<TokenReply> {
  return post(`${url}/oauth/token`, {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: token,
  })
}
