// A GET for others: to public addresses only. The address is judged when the connection is made, and the one that was judged
// is the one that is connected to, so that a name cannot be one thing when it is looked at and another when it is used.
import { lookup as lookUp, type LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from './public-address.ts'

export interface Get {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly bytesMax: number
  /** Default 5. */
  readonly redirectsMax?: number
  readonly signal: AbortSignal
}

export interface Got {
  /** Where it came from in the end. */
  readonly url: string
  readonly status: number
  readonly headers: IncomingHttpHeaders
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

export async function get(wanted: Get, isAllowed: IsAllowed = isPublicAddress): Promise<Got> {
  let url = readUrl(wanted.url)
  let { headers = {} } = wanted
  const { redirectsMax = REDIRECTS_MAX } = wanted
  for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
    const response = await ask(url, { headers, signal: wanted.signal, isAllowed })
    const next = redirectOf(response, url)
    if (next === undefined) {
      const body = await readBody(response, wanted.bytesMax)
      return { url: url.href, status: response.statusCode ?? 0, headers: response.headers, body }
    }
    response.destroy()
    // What was meant for one server, a credential perhaps, is not for the next.
    if (next.origin !== url.origin) headers = {}
    url = next
  }
  throw new EgressRefused('too_many_redirects', `${wanted.url} redirects more than ${redirectsMax} times.`)
}

function readUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new EgressRefused('unsupported_url', `${text} is not an http or https URL.`)
}

interface Asking {
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly isAllowed: IsAllowed
}

async function ask(url: URL, { headers, signal, isAllowed }: Asking): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  // Node asks no lookup about what is an address already.
  if (isIP(host) !== 0 && !isAllowed(host)) throw privateAddress(host)
  const send = url.protocol === 'https:' ? requestTls : requestPlain
  // No connection is kept: one that is used again would not be judged again.
  const sent = send(url, { headers, signal, agent: false, lookup: guardedLookup(isAllowed) })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response
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
