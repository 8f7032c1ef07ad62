// http: a worker says where its result is to be PUT, or has put it there itself; fetching is a GET of the pointer. Public
// addresses only, judged when the connection is made.
import { EgressRefused, open, put, type Reached } from '../egress/get.ts'
import { isPublicAddress } from '../egress/public-address.ts'
import { type Channel, ChannelError, dataOf, KEEPS_ANYTHING } from './port.ts'

interface HttpParts {
  /** Other than public addresses for tests alone. */
  readonly isAllowed?: (address: string) => boolean
}

export function createHttpChannel({ isAllowed = isPublicAddress }: HttpParts = {}): Channel {
  return {
    name: 'http',
    async put({ targetUrl, contentType, bytes, content }, announce) {
      if (targetUrl === null) throw new ChannelError('refused', 'Say with target_url where it is to be PUT.')
      const pointer = pointerTo(targetUrl)
      await announce(pointer)
      const headers = {
        'content-type': contentType,
        ...(bytes !== null && { 'content-length': String(bytes) }),
      }
      await reached(() => put({ url: targetUrl, headers, body: content }, isAllowed))
      return pointer
    },
    async get({ pointer }, signal) {
      const { body } = await reached(() => open({ url: dataOf('http', pointer), signal }, isAllowed))
      return body as AsyncIterable<Buffer>
    },
    // What somebody else keeps is not ours to remove.
    ack: async () => {},
    capabilities: () => KEEPS_ANYTHING,
    check: async () => {},
  }
}

/** A query is how a store is given leave to write, and no business of those who read. */
function pointerTo(targetUrl: string): string {
  const url = URL.parse(targetUrl)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ChannelError('refused', 'target_url must be an http or https URL.')
  if (url.username !== '' || url.password !== '')
    throw new ChannelError('refused', 'target_url must not hold a user name or a password.')
  url.search = ''
  url.hash = ''
  return `http:${url.href}`
}

async function reached(call: () => Promise<Reached>): Promise<Reached> {
  let answer: Reached
  try {
    answer = await call()
  } catch (error) {
    if (error instanceof ChannelError) throw error
    if (error instanceof EgressRefused) throw new ChannelError('refused', error.message, { cause: error })
    const reason = error instanceof Error ? error.message : String(error)
    throw new ChannelError('unavailable', `There was no answer: ${reason}`, { cause: error })
  }
  if (answer.status >= 200 && answer.status < 300) return answer
  answer.body.destroy()
  const code = answer.status === 404 || answer.status === 410 ? 'missing' : 'unavailable'
  throw new ChannelError(code, `${answer.url.split('?', 1)[0]} answered ${answer.status}.`)
}
