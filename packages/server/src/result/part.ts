// A bounded part of a result, for those who cannot take in a stream: all of it is read, and so verified, for each part.
import { GateError } from '@asyncgate/sdk'
import { isUtf8 } from 'node:buffer'
import { measure } from '../channel/content.ts'
import type { Measure } from '../channel/port.ts'
import type { OpenResult } from './open.ts'

/** Reading all of it for each part would cost too much beyond this; there is the stream for that. */
export const PARTED_BYTES_MAX = 64 * 1_048_576

export interface Part {
  readonly whole: Measure
  readonly content: string
  readonly encoding: 'utf8' | 'base64'
  readonly nextOffset: number | null
  /** The whole, where this part is that and it is JSON. */
  readonly json?: unknown
}

export async function readPart(
  { content, contentType }: OpenResult,
  { offset, maxBytes }: { readonly offset: number; readonly maxBytes: number },
): Promise<Part> {
  const kept: Buffer[] = []
  const source = measure(content, { bytesMax: PARTED_BYTES_MAX })
  let at = 0
  for await (const chunk of source) {
    const wanted = chunk.subarray(Math.max(0, offset - at), Math.max(0, offset + maxBytes - at))
    if (wanted.length > 0) kept.push(Buffer.from(wanted))
    at += chunk.length
  }
  const whole = source.measured()
  if (offset > whole.bytes) throw beyond(offset, whole.bytes)
  const part = withoutHalfCharacter(Buffer.concat(kept), offset + maxBytes < whole.bytes)
  const nextOffset = offset + part.length < whole.bytes ? offset + part.length : null
  const encoding = isUtf8(part) ? 'utf8' : 'base64'
  const isWhole = offset === 0 && nextOffset === null
  return {
    whole,
    content: part.toString(encoding),
    encoding,
    nextOffset,
    ...(isWhole && isJson(contentType) && jsonOf(part)),
  }
}

/** Text is cut between characters, so that a part of it is text too; what is no text stays as it is. */
function withoutHalfCharacter(part: Buffer, isCut: boolean): Buffer {
  if (!isCut || isUtf8(part)) return part
  for (let cut = 1; cut <= 3 && cut < part.length; cut += 1) {
    const shorter = part.subarray(0, part.length - cut)
    if (isUtf8(shorter)) return shorter
  }
  return part
}

function isJson(contentType: string | null): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(contentType ?? '')
}

function jsonOf(part: Buffer): { json?: unknown } {
  try {
    return { json: JSON.parse(part.toString('utf8')) }
  } catch {
    return {} // called JSON and is none: handed over as it is
  }
}

function beyond(offset: number, bytes: number): GateError {
  const message = `Field "offset": ${offset} is beyond the end, which is at ${bytes}.`
  return new GateError('invalid_input', message, { field: 'offset', issues: [{ field: 'offset', message }] })
}
