// Bytes on their way through: counted and hashed as they pass, never held as a whole.
import { createHash } from 'node:crypto'
import type { Content, Measure } from './port.ts'
import { ChannelError } from './port.ts'

export function measure(
  source: AsyncIterable<Uint8Array>,
  { bytesMax = Number.POSITIVE_INFINITY }: { readonly bytesMax?: number } = {},
): Content {
  const hash = createHash('sha256')
  let bytes = 0
  let done: Measure | undefined
  return {
    async *[Symbol.asyncIterator]() {
      for await (const chunk of source) {
        bytes += chunk.length
        if (bytes > bytesMax) throw tooLarge(bytesMax)
        hash.update(chunk)
        yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      }
      done = { bytes, sha256: hash.digest('hex') }
    },
    measured() {
      if (done === undefined) throw new Error('content is measured when all of it has been read')
      return done
    },
  }
}

function tooLarge(bytesMax: number): ChannelError {
  return new ChannelError('too_large', `It has more than ${bytesMax} bytes, which is the limit here.`)
}

/** The content again, but for the last of it, which is held back until `judge` has seen what the whole measures. */
export async function* verified(
  content: Content,
  judge: (found: Measure) => void,
): AsyncGenerator<Buffer, void, undefined> {
  let held: Buffer | undefined
  for await (const chunk of content) {
    if (held !== undefined) yield held
    held = chunk
  }
  judge(content.measured())
  if (held !== undefined) yield held
}

/** All of it, if it is no more than `bytesMax`; for what is known to be small. */
export async function collect(source: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.length
    if (bytes > bytesMax) throw tooLarge(bytesMax)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** What is read first to see how much there is, and then all of it from the beginning. */
export async function peek(
  source: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<{ readonly isAll: boolean; readonly content: AsyncIterable<Uint8Array> }> {
  const iterator = source[Symbol.asyncIterator]()
  const first: Uint8Array[] = []
  let bytes = 0
  while (bytes <= bytesMax) {
    const { done, value } = await iterator.next()
    if (done) return { isAll: true, content: again(first) }
    first.push(value)
    bytes += value.length
  }
  return { isAll: false, content: again(first, iterator) }
}

async function* again(
  first: readonly Uint8Array[],
  rest?: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* first
    while (rest !== undefined) {
      const { done, value } = await rest.next()
      if (done) return
      yield value
    }
  } finally {
    await rest?.return?.()
  }
}
