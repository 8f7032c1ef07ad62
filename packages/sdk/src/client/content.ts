// Results as they are, of any size: sent and received as streams, and verified at this end too.
import type { CallOptions, Reply } from '../client.ts'
import { contract, type GateContract } from '../contract/index.ts'
import { contentRouteOf, type Input, type Operation } from '../contract/operation.ts'
import { GateError } from '../errors.ts'
import { createHasher } from '../worker/sha256.ts'
import { askWith, pathOf, type Wire } from './reach.ts'
import { type Retry, withRetries } from './retry.ts'

/** Text, bytes, or a stream of bytes, which is read once. */
export type Content = string | Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

export interface UploadProgress {
  readonly bytes: number
  /** Null for a stream: nobody knows. */
  readonly totalBytes: number | null
}

export interface UploadOptions extends CallOptions {
  readonly onProgress?: (progress: UploadProgress) => void
}

export interface Download {
  readonly contentType: string
  readonly bytes: number | null
  /** What the content is verified against; null where nobody has told. */
  readonly sha256: string | null
  /** Fails before its end if the content is not what was stored. */
  readonly content: ReadableStream<Uint8Array>
}

type PutInput = Omit<Input<GateContract['putTaskResult']>, 'content' | 'encoding'>
type FetchInput = Omit<Input<GateContract['fetchTaskResult']>, 'offset' | 'max_bytes'>

export interface ContentCalls {
  /** As `putTaskResult`, for content of any size. A stream cannot be sent twice, so its failures are not retried. */
  uploadTaskResult(
    input: PutInput,
    content: Content,
    options?: UploadOptions,
  ): Promise<Reply<GateContract['putTaskResult']>>
  /** As `fetchTaskResult`, for content of any size. */
  downloadTaskResult(input: FetchInput, options?: CallOptions): Promise<Download>
}

/** Large enough not to cost, small enough to show how it goes. */
const CHUNK_BYTES = 256 * 1_024
const GATHERED_BYTES = 64 * 1_024

interface ContentParts {
  readonly wire: Wire
  readonly retry: Retry | false
  /** Fills in whom to act as. */
  readonly complete: (input: Record<string, unknown>, operation: Operation) => Record<string, unknown>
}

export function createContentCalls({ wire, retry: usual, complete }: ContentParts): ContentCalls {
  const retrying = <T>(attempt: () => Promise<T>, { signal, retry }: CallOptions) =>
    retry === false || usual === false ? attempt() : withRetries(attempt, usual, signal)

  return {
    async uploadTaskResult({ content_type: type, ...input }, content, options = {}) {
      const operation: Operation = contract.putTaskResult
      const path = pathOf(contentRouteOf(operation)!.path, complete(input, operation))
      const attempt = async () => {
        const { body, sha256 } = outgoing(content, options.onProgress)
        const response = await askWith(
          { path, method: 'PUT', body, type: type ?? typeOf(content) },
          options.signal,
          wire,
        )
        const reply = (await response.json()) as Reply<GateContract['putTaskResult']> // a success of that route
        const sent = sha256()
        if (sent !== undefined && sent !== reply.sha256) throw mismatch(sent, reply.sha256)
        return reply
      }
      return isRepeatable(content) ? retrying(attempt, options) : attempt()
    },
    async downloadTaskResult(input, options = {}) {
      const operation: Operation = contract.fetchTaskResult
      const path = pathOf(contentRouteOf(operation)!.path, complete({ ...input }, operation))
      const response = await retrying(() => askWith({ path, method: 'GET' }, options.signal, wire), options)
      return downloadOf(response)
    },
  }
}

function isRepeatable(content: Content): boolean {
  return typeof content === 'string' || content instanceof Uint8Array || content instanceof Blob
}

function typeOf(content: Content): string {
  if (content instanceof Blob && content.type !== '') return content.type
  return typeof content === 'string' ? 'text/plain; charset=utf-8' : 'application/octet-stream'
}

/** What is not watched and is there at once goes as it is: not every runtime can send a stream. */
function outgoing(content: Content, onProgress: UploadOptions['onProgress']) {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  const total = bytes instanceof Uint8Array ? bytes.length : bytes instanceof Blob ? bytes.size : null
  const hasher = createHasher()
  if (onProgress === undefined && total !== null) {
    if (bytes instanceof Uint8Array) hasher?.update(bytes)
    return {
      body: bytes as Uint8Array<ArrayBuffer> | Blob, // by its type it could be on memory that threads share
      sha256: () => (bytes instanceof Uint8Array ? hasher?.digest() : undefined),
    }
  }
  let sent = 0
  const body = streamOf(chunks(bytes), (chunk) => {
    hasher?.update(chunk)
    sent += chunk.length
    onProgress?.({ bytes: sent, totalBytes: total })
  })
  return { body, sha256: () => hasher?.digest() }
}

async function* chunks(content: Exclude<Content, string>): AsyncGenerator<Uint8Array, void, undefined> {
  if (content instanceof Uint8Array) {
    for (let at = 0; at < content.length; at += CHUNK_BYTES) yield content.subarray(at, at + CHUNK_BYTES)
  } else {
    const source = content instanceof Blob ? content.stream() : content
    yield* gathered(source as AsyncIterable<Uint8Array>) // streams can be iterated wherever this package runs
  }
}

/** Half a million lines of a table must not be half a million packets. */
async function* gathered(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let held: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of source) {
    held.push(chunk)
    bytes += chunk.length
    if (bytes < GATHERED_BYTES) continue
    yield joined(held, bytes)
    held = []
    bytes = 0
  }
  if (bytes > 0) yield joined(held, bytes)
}

function joined(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  const [only] = chunks
  if (chunks.length === 1 && only !== undefined) return only
  const all = new Uint8Array(bytes)
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}

function streamOf(
  source: AsyncGenerator<Uint8Array, void, undefined>,
  onChunk: (chunk: Uint8Array) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await source.next()
      if (done) return controller.close()
      onChunk(value)
      controller.enqueue(value)
    },
    async cancel(reason) {
      await source.return(reason)
    },
  })
}

function downloadOf(response: Response): Download {
  const { headers } = response
  const length = headers.get('content-length')
  const sha256 = digestIn(headers.get('repr-digest'))
  return {
    contentType: headers.get('content-type') ?? 'application/octet-stream',
    bytes: length === null ? null : Number(length),
    sha256,
    content: streamOf(verified(response.body, sha256), () => {}),
  }
}

/** The last of it is held back until the whole has proved to be what it should be. */
async function* verified(
  body: ReadableStream<Uint8Array> | null,
  expected: string | null,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hasher = createHasher()
  let held: Uint8Array | undefined
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    if (held !== undefined) yield held
    hasher?.update(chunk)
    held = chunk
  }
  const found = hasher?.digest()
  if (expected !== null && found !== undefined && found !== expected) throw mismatch(found, expected)
  if (held !== undefined) yield held
}

/** RFC 9530: `sha-256=:…:`, in base64. */
function digestIn(header: string | null): string | null {
  const base64 = /sha-256=:([A-Za-z0-9+/=]+):/.exec(header ?? '')?.[1]
  if (base64 === undefined) return null
  return Array.from(atob(base64), (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('')
}

function mismatch(found: string, expected: string): GateError {
  const message = `The content was changed on its way: its SHA-256 is ${found}, not ${expected}. Repeat the call.`
  return new GateError('checksum_mismatch', message, { sha256: found, expected_sha256: expected })
}
