// http_get: fetches a public URL. An answer is a result whatever its status, unless the server asks to come back later.
import { FatalError, type Handler, RetryableError } from '@asyncgate/sdk'
import { z } from 'zod'
import { EgressRefused, get, type Got } from '../egress/get.ts'

export const HttpGet = z.strictObject({
  url: z.url(),
  headers: z.record(z.string(), z.string()).default({}),
  timeout_seconds: z.number().min(1).max(300).default(30),
})

/** Base64 of it, and most text as JSON, stays below the 1 MiB that a result may have. */
const BODY_BYTES_MAX = 512 * 1_024
/** Header values are for servers as a rule; what a caller needs to read a body are these. */
const HEADERS_KEPT = ['content-type', 'etag', 'last-modified', 'location']

export function httpGet(fetched: typeof get = get): Handler<z.output<typeof HttpGet>> {
  return async ({ url, headers, timeout_seconds }, { signal }) => {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeout_seconds * 1_000)])
    const got = await fetched({ url, headers, bytesMax: BODY_BYTES_MAX, signal: inTime }).catch(explain)
    if (got.status === 429 || got.status >= 500) throw busy(got)
    return resultOf(got)
  }
}

function explain(error: unknown): never {
  if (error instanceof EgressRefused) throw new FatalError(error.message, { code: error.code, cause: error })
  const message = error instanceof Error ? error.message : String(error)
  throw new RetryableError(`The URL could not be fetched: ${message}`, { code: 'fetch_failed', cause: error })
}

function busy({ status, headers }: Got): RetryableError {
  const seconds = Number(headers['retry-after'] ?? Number.NaN)
  return new RetryableError(`The server answered ${status}.`, {
    code: 'http_status',
    details: { status },
    ...(Number.isFinite(seconds) && { retryAfterSeconds: seconds }),
  })
}

function resultOf({ url, status, headers, body }: Got) {
  const kept = Object.entries(headers).filter(([name]) => HEADERS_KEPT.includes(name))
  const facts = { url, status, headers: Object.fromEntries(kept), bytes: body.length }
  const text = textOf(body)
  return text === undefined ? { ...facts, body_base64: body.toString('base64') } : { ...facts, body: text }
}

/** Undefined if the bytes are not text, or hold what JSON strings may not hold here. */
function textOf(body: Buffer): string | undefined {
  if (body.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return undefined // not UTF-8: handed over as it is
  }
}
