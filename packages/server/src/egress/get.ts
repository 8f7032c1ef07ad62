// A GET or PUT for others: to public addresses only. The address is judged when the connection is made, and the one that was judged
// is the one that is connected to, so that a name cannot be one thing when it is looked at and another when it is used.
import { lookup as lookUp, type LookupAddress } from 'node:dns'
import { once } from 'node:events'
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestPlain,
} from 'node:http'
import { request as requestTls } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isPublicAddress } from './public-address.ts'

export interface Get {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly bytesMax: number
  /** Default 5. */
  readonly redirectsMax?: number
  readonly signal: AbortSignal
}

export interface Put {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
}

/** An answer whose body is yet to be read, or destroyed. */
export interface Reached {
  /** Where it came from in the end. */
  readonly url: string
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: IncomingMessage
}

export interface Got extends Omit<Reached, 'body'> {
  readonly body: Buffer
}

/** A retry cannot help. */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused'
  readonly code: 'private_address' | 'unsupported_url' | 'too_many_redirects' | 'too_large'

  constructor(code: EgressRefused['code'], message: string) {
    super(message)
    this.code = code
  }
}

type IsAllowed = (address: string) => boolean

const REDIRECTS_MAX = 5
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]
/** Without a byte for this long, a connection is given up. */
const SILENCE_MS_MAX = 60_000

export async function get(wanted: Get, isAllowed: IsAllowed = isPublicAddress): Promise<Got> {
  const { body, ...answer } = await open(wanted, isAllowed)
  return { ...answer, body: await readBody(body, wanted.bytesMax) }
}

/** As `get`, for a body of any size: it is read as it comes. */
export async function open(
  wanted: Omit<Get, 'bytesMax'>,
  isAllowed: IsAllowed = isPublicAddress,
): Promise<Reached> {
  let url = readUrl(wanted.url)
  let { headers = {} } = wanted
  const { redirectsMax = REDIRECTS_MAX } = wanted
  for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
    const response = await ask(url, { headers, signal: wanted.signal, isAllowed })
    const next = redirectOf(response, url)
    if (next === undefined) return answerOf(response, url)
    response.destroy()
    // What was meant for one server, a credential perhaps, is not for the next.
    if (next.origin !== url.origin) headers = {}
    url = next
  }
  throw new EgressRefused('too_many_redirects', `${wanted.url} redirects more than ${redirectsMax} times.`)
}

/** A redirect is an answer like another: what was to be stored here is not sent elsewhere. */
export async function put(
  { url: wanted, headers, body }: Put,
  isAllowed: IsAllowed = isPublicAddress,
): Promise<Reached> {
  const url = readUrl(wanted)
  const sent = connect(url, { method: 'PUT', headers, isAllowed })
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>
  // A server that refuses need not read to the end: its answer counts, not that the rest could not be sent.
  const broken = pipeline(Readable.from(body), sent).then(() => answered)
  answered.catch(() => {})
  broken.catch(() => {})
  const [response] = await Promise.race([answered, broken])
  return answerOf(response, url)
}

function answerOf(response: IncomingMessage, { href }: URL): Reached {
  return { url: href, status: response.statusCode ?? 0, headers: response.headers, body: response }
}

function readUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new EgressRefused('unsupported_url', `${text} is not an http or https URL.`)
}

interface Asking {
  readonly method?: 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  readonly isAllowed: IsAllowed
}

async function ask(url: URL, asking: Asking): Promise<IncomingMessage> {
  const sent = connect(url, asking)
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response
}

function connect(url: URL, { isAllowed, ...asking }: Asking): ClientRequest {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  // Node asks no lookup about what is an address already.
  if (isIP(host) !== 0 && !isAllowed(host)) throw privateAddress(host)
  const send = url.protocol === 'https:' ? requestTls : requestPlain
  // No connection is kept: one that is used again would not be judged again.
  const lookup = guardedLookup(isAllowed)
  const sent = send(url, { ...asking, agent: false, lookup, timeout: SILENCE_MS_MAX })
  return sent.once('timeout', () => sent.destroy(new Error(`${url.host} was silent for too long.`)))
}

/** One private address among several is enough to refuse the name. */
function guardedLookup(isAllowed: IsAllowed): LookupFunction {
  return (hostname, options, callback) => {
    lookUp(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error) return callback(error, '')
      const refused = found.find(({ address }) => !isAllowed(address))
      if (refused) return callback(privateAddress(`${hostname} (${refused.address})`), '')
      if (options.all) return callback(null, found)
      const [first] = found
      return callback(null, first!.address, first!.family) // a lookup without an error found something
    })
  }
}

function privateAddress(where: string): EgressRefused {
  return new EgressRefused('private_address', `${where} is not on the public internet.`)
}

function redirectOf({ statusCode, headers }: IncomingMessage, from: URL): URL | undefined {
  const isRedirect = REDIRECTS.includes(statusCode ?? 0) && headers.location !== undefined
  return isRedirect ? readUrl(headers.location!, from) : undefined
}

async function readBody(response: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bytesMax) {
      response.destroy()
      throw new EgressRefused('too_large', `The body is larger than ${bytesMax} bytes.`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
