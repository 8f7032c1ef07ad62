// Where the commands that call a server find it: a flag, else ASYNCGATE_URL, else the default address.
import type { Environment } from './environment.ts'
import { findKey } from './keys.ts'

export interface ClientSettings {
  readonly url: string
  readonly apiKey?: string
}

/** There is no flag for the key on purpose: command lines are seen by everyone on the machine. */
export function clientSettings(flags: { url?: string | undefined }, env: Environment): ClientSettings {
  const url = withScheme(flags.url || env.ASYNCGATE_URL || `127.0.0.1:${String(findKey('port')!.initial)}`)
  const apiKey = env.ASYNCGATE_API_KEY || undefined
  return apiKey === undefined ? { url } : { url, apiKey }
}

/** `localhost:8420` is what one types. */
function withScheme(url: string): string {
  return /^https?:\/\//i.test(url) ? url : `http://${url}`
}
