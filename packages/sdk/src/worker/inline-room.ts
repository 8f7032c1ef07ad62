// Where the uploads of one execution go that its handler leaves to their size. An inline pointer holds its content, and all of them
// go into one receipt: what the first have left no room for goes where large results go.
import type { Content } from '../client/content.ts'

/** Where results go by their size, as the server has it. */
export interface Sizes {
  readonly inlineBytesMax: number
  /** The channel of larger ones; null where there is no such place, and they go with the task as long as that takes them. */
  readonly large: string | null
}

/** For each upload, before it begins: the channel to ask for, or undefined where the server may choose. */
export function createInlineRoom({ inlineBytesMax, large }: Sizes): (content: Content) => string | undefined {
  let left = inlineBytesMax
  return (content) => {
    const bytes = bytesIn(content) ?? inlineBytesMax // a stream may turn out to be small
    if (large === null || bytes > inlineBytesMax) return undefined
    if (bytes > left) return large
    left -= bytes
    return undefined
  }
}

function bytesIn(content: Content): number | null {
  if (typeof content === 'string') return new TextEncoder().encode(content).length
  if (content instanceof Uint8Array) return content.length
  return content instanceof Blob ? content.size : null
}
