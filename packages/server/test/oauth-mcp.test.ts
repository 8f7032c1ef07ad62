// The official MCP clients, knowing nothing but the server's address: refused, they find where to sign in, are let in by a
// person, and call tools. Their client id is the address of a document, which they serve themselves.
import { createServer, type Server } from 'node:http'
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { get } from '../src/egress/get.ts'
import { ADA, allow, askFor, createBrowser, type OAuthRig, openOAuthRig, PASSWORD } from './oauth-rig.ts'
import { verifies } from './requirements.ts'

const CLIENT_URL = 'https://client.example/oauth/metadata.json'
const REDIRECT_URI = 'http://localhost:33418/callback'
const WHO = { name: 'asyncgate-tests', version: '1.0.0' }

let rig: OAuthRig
let documents: Server
let document: unknown
let fetched: string[] = []

beforeAll(async () => {
  documents = createServer((request, reply) => {
    fetched.push(request.url ?? '')
    if (request.url === '/redirects') reply.writeHead(302, { location: '/oauth/metadata.json' }).end()
    else reply.setHeader('content-type', 'application/json').end(JSON.stringify(document))
  })
  await new Promise<void>((resolve) => documents.listen(0, '127.0.0.1', resolve))
  const { port } = documents.address() as { port: number }
  // All of the fetching but the name and the certificate, which no test has: client.example is the server above.
  const getHere: typeof get = (wanted) =>
    get(
      { ...wanted, url: wanted.url.replace('https://client.example', `http://127.0.0.1:${port}`) },
      () => true,
    )
  rig = await openOAuthRig('memory', {}, { get: getHere })
  await rig.admin.createAccount({ username: 'ada', role: 'admin', principal: ADA, password: PASSWORD })
})
afterAll(async () => {
  await rig.close()
  await new Promise((resolve) => documents.close(resolve))
})

function metadata(over: object = {}) {
  return {
    client_id: CLIENT_URL,
    client_name: 'Test Agent',
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    ...over,
  }
}

/** What an application with a browser keeps for the library. */
function createAuthProvider() {
  const kept: { tokens?: never; client?: never; discovery?: never; verifier?: string; url?: URL } = {}
  return {
    kept,
    provider: {
      redirectUrl: REDIRECT_URI,
      clientMetadataUrl: CLIENT_URL,
      clientMetadata: metadata() as never,
      state: () => 'a state',
      clientInformation: () => kept.client,
      saveClientInformation: (client: unknown) => void (kept.client = client as never),
      tokens: () => kept.tokens,
      saveTokens: (tokens: unknown) => void (kept.tokens = tokens as never),
      redirectToAuthorization: (url: URL) => void (kept.url = url),
      saveCodeVerifier: (verifier: string) => void (kept.verifier = verifier),
      codeVerifier: () => kept.verifier!,
      saveDiscoveryState: (state: unknown) => void (kept.discovery = state as never),
      discoveryState: () => kept.discovery,
    },
  }
}

type Provider = ReturnType<typeof createAuthProvider>['provider']

interface Connection {
  connect(): Promise<void>
  finishAuth(sent: URLSearchParams): Promise<void>
  callTool(name: string): Promise<Record<string, unknown>>
  listTools(): Promise<string[]>
}

const CONNECTIONS: readonly (readonly [string, (url: URL, provider: Provider) => Connection])[] = [
  [
    'client 1.x',
    (url, authProvider) => {
      const transport = new HttpV1(url, { authProvider })
      const client = new ClientV1(WHO)
      return {
        connect: () => client.connect(transport),
        finishAuth: (sent) => transport.finishAuth(sent.get('code')!),
        callTool: async (name) => await client.callTool({ name, arguments: {} }),
        listTools: async () => (await client.listTools()).tools.map((tool) => tool.name),
      }
    },
  ],
  ...(['legacy', { pin: '2026-07-28' }] as const).map(
    (mode) =>
      [
        `client 2.x, ${JSON.stringify(mode)}`,
        (url: URL, authProvider: Provider): Connection => {
          const transport = new HttpV2(url, { authProvider })
          const client = new ClientV2(WHO, { versionNegotiation: { mode } })
          return {
            connect: () => client.connect(transport),
            finishAuth: (sent) => transport.finishAuth(sent),
            callTool: async (name) => await client.callTool({ name, arguments: {} }),
            listTools: async () => (await client.listTools()).tools.map((tool) => tool.name),
          }
        },
      ] as const,
  ),
]

describe.each(CONNECTIONS)('%s', (name, connection) => {
  verifies('AUTH-2', `${name} finds its way from the address alone`, async () => {
    document = metadata()
    const { provider, kept } = createAuthProvider()
    const url = new URL('/mcp', rig.issuer)
    const first = connection(url, provider)
    await expect(first.connect()).rejects.toThrow(/unauthorized/i)
    expect(kept.url?.origin).toBe(rig.issuer)
    const asked = Object.fromEntries(kept.url!.searchParams)
    expect(asked).toMatchObject({
      client_id: CLIENT_URL,
      resource: `${rig.issuer}/mcp`,
      code_challenge_method: 'S256',
    })
    const sent = await allow(rig.issuer, kept.url!.href)
    expect([sent.origin + sent.pathname, sent.searchParams.get('state')]).toEqual([REDIRECT_URI, 'a state'])
    await first.finishAuth(sent.searchParams)
    const second = connection(url, provider)
    await second.connect()
    expect(await second.listTools()).toContain('asyncgate_create_task')
    expect((await second.callTool('asyncgate_list_tasks'))['structuredContent']).toMatchObject({ tasks: [] })
    expect(decodeJwt((kept.tokens as unknown as { access_token: string }).access_token)).toMatchObject({
      aud: `${rig.issuer}/mcp`,
      client_id: CLIENT_URL,
    })
  })
})

verifies('AUTH-2', 'a client that lacks a scope hears which, and asks its person for it', async () => {
  document = metadata()
  const { provider, kept } = createAuthProvider()
  const url = new URL('/mcp', rig.issuer)
  const connect = CONNECTIONS[2]![1]
  const first = connect(url, provider)
  await expect(first.connect()).rejects.toThrow(/unauthorized/i)
  kept.url!.searchParams.set('scope', 'tasks:read')
  await first.finishAuth((await allow(rig.issuer, kept.url!.href)).searchParams)
  const second = connect(url, provider)
  await second.connect()
  expect((await second.callTool('asyncgate_list_tasks'))['isError']).toBeFalsy()
  await expect(second.callTool('asyncgate_list_keys')).rejects.toThrow(/unauthorized/i)
  expect(kept.url!.searchParams.get('scope')?.split(' ').toSorted()).toEqual(['admin:read', 'tasks:read'])
  expect((await rig.events()).at(-1)).toMatchObject({ event: 'authorization.failed', principal: ADA })
  await second.finishAuth((await allow(rig.issuer, kept.url!.href)).searchParams)
  const third = connect(url, provider)
  await third.connect()
  expect((await third.callTool('asyncgate_list_keys'))['structuredContent']).toMatchObject({ keys: [] })
})

/** Each with an address of its own: documents are remembered for a while. */
const opened = async (path: string, over: object = {}) => {
  const id = `https://client.example${path}`
  document = metadata({ client_id: id, ...over })
  const asked = askFor(rig.issuer, id, { redirect_uri: REDIRECT_URI })
  return createBrowser(rig.issuer).open(asked.url)
}

test('the person sees the name that the document gives, and whose document it is', async () => {
  const { status, text } = await opened('/named', { client_name: 'Bank <b>of</b> Everything' })
  expect(status).toBe(200)
  expect(text).toContain('Bank &#60;b&#62;of&#60;/b&#62; Everything (client.example)')
  expect(text).toContain('an application on this device (localhost)')
})

test('a document that will not do lets nobody in', async () => {
  const wrong: [string, object][] = [
    ['/another-id', { client_id: CLIENT_URL }],
    ['/secret', { token_endpoint_auth_method: 'client_secret_post' }],
    ['/key', { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://client.example/jwks' }],
    ['/plain-http', { redirect_uris: [REDIRECT_URI, 'http://evil.example/back'] }],
    ['/script', { redirect_uris: [REDIRECT_URI, 'javascript:alert(1)'] }],
    ['/disguised', { redirect_uris: [REDIRECT_URI, 'https://client.example@evil.example/back'] }],
    ['/no-addresses', { redirect_uris: [] }],
    ['/not-this-address', { redirect_uris: ['https://client.example/back'] }],
    ['/large', { client_name: 'x'.repeat(6_000) }],
    ['/redirects', {}],
  ]
  for (const [path, over] of wrong) {
    const { status, leftFor } = await opened(path, over)
    expect([path, status, leftFor]).toEqual([path, 400, null])
    expect((await rig.events()).at(-1)?.event).toBe('authorization.refused')
  }
})

test('a document is fetched once for many who ask at once, and remembered', async () => {
  fetched = []
  document = metadata({ client_id: 'https://client.example/once' })
  const ask = () =>
    createBrowser(rig.issuer).open(
      askFor(rig.issuer, 'https://client.example/once', { redirect_uri: REDIRECT_URI }).url,
    )
  await Promise.all([ask(), ask(), ask(), ask()])
  await ask()
  expect(fetched).toEqual(['/once'])
})
