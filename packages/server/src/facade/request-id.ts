// The id that ties a reply, its log line and its error body together (OPS-3). A caller may bring its own.
import type { IncomingHttpHeaders } from 'node:http'

/** Safe in a header, a log and a page, whoever sent it. */
const SAFE_ID = /^[A-Za-z0-9._:-]{1,128}$/

export function requestIdOf(headers: IncomingHttpHeaders, ids: { next(): string }): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && SAFE_ID.test(given) ? given : ids.next()
}
