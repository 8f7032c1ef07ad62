// From the bytes of a body to a JSON value, for both protocols over HTTP. Strict where a lenient reader would
// change what was sent (bad UTF-8) or stall the process (endless nesting).
import { isUtf8 } from 'node:buffer'
import { GateError, NESTING_MAX } from '@asyncgate/sdk'

/** JSON-RPC wraps the input: batch, message, params, arguments. The exact limit is checked on the input itself. */
const ENVELOPE_NESTING = 5

/** An empty body is no value: `undefined`. */
export function readJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw new GateError('invalid_input', 'The body is not valid UTF-8. Encode it as UTF-8.')
  if (bytes.length > HARMLESS_BYTES) refuseBombs(bytes)
  const text = bytes.toString('utf8')
  try {
    return LONG_DIGITS.test(text) ? parseWithSources(text, refuseLostDigits) : JSON.parse(text)
  } catch (cause) {
    if (cause instanceof GateError) throw cause
    throw new GateError('invalid_input', `The body is not valid JSON: ${reasonOf(cause)}.`, {}, { cause })
  }
}

/** Shorter numbers are exact. The look at every number that the others need costs several times the parsing itself. */
const LONG_DIGITS = /\d{16}/

/** The text of each number is handed to a reviver; the library's types do not know that yet. */
const parseWithSources = JSON.parse as (text: string, reviver: typeof refuseLostDigits) => unknown

/** A 64-bit id written as a number would come back as another one: better refused than changed. */
function refuseLostDigits(key: string, value: unknown, { source }: { source?: string }): unknown {
  const isWhole = typeof value === 'number' && source !== undefined && /^-?\d+$/.test(source)
  if (!isWhole || String(value) === source || isExact(value, source)) return value
  const message = `Field "${key}" is not valid: ${source.slice(0, 40)} has more digits than a number keeps; send it as a string.`
  throw new GateError('invalid_input', message, { field: key, issues: [{ field: key, message }] })
}

/**
 * Members, objects and lists together: a thousand tasks of five hundred each; no single payload can have as many. What V8 and we take
 * for a body grows with them more than with its bytes: 1.5 million members took six seconds, ten million empty lists two.
 */
const PARTS_MAX = 500_000

/** What is nested too deep is longer than this, closed as it must be. */
const HARMLESS_BYTES = 2 * (NESTING_MAX + ENVELOPE_NESTING)

const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const OPEN_BRACE = 0x7b
const CLOSE_BRACKET = 0x5d
const CLOSE_BRACE = 0x7d

/**
 * JSON.parse takes 7.5 s and 1.1 GB for 32 MiB of brackets (Node 26); this scan takes 0.1 s for the same and
 * microseconds for a usual body.
 */
function refuseBombs(bytes: Buffer): void {
  let depth = 0
  let parts = 0
  let inString = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!
    if (byte === QUOTE) inString = !inString
    else if (inString) at += byte === BACKSLASH ? 1 : 0
    else if (byte === COLON) parts += 1
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1
      parts += 1
      if (depth > NESTING_MAX + ENVELOPE_NESTING) {
        const message = `The body is nested more than ${NESTING_MAX} levels deep. Flatten it.`
        throw new GateError('invalid_input', message)
      }
    }
  }
  if (parts <= PARTS_MAX) return
  const message = `The body has ${parts} members, objects and lists, the limit is ${PARTS_MAX}. Send less at a time.`
  throw new GateError('payload_too_large', message)
}

/** A million digits would take BigInt long, and are no number that anybody keeps. */
const DIGITS_MAX = 400

function isExact(value: number, source: string): boolean {
  return source.length <= DIGITS_MAX && Number.isFinite(value) && BigInt(value) === BigInt(source)
}

/** The engine's own words quote the text; its first line is enough to find the place. */
function reasonOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  return message.split('\n', 1)[0]!.slice(0, 200).toWellFormed()
}
