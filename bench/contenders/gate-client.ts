// A plain HTTP client of AsyncGate with kept connections: the cheapest that Node has, so that what is measured is the
// server. (Per request in the client: undici's pool 26–40 µs, node:http 55 µs, global fetch 240 µs.)
import { Pool } from 'undici'

export interface GateClient {
  post<T>(path: string, body: object, options?: { signal?: AbortSignal }): Promise<T>
  get<T>(path: string): Promise<T>
  /** For bodies and headers of another protocol on the same connections. */
  send<T>(path: string, body: string, headers: Readonly<Record<string, string>>): Promise<T>
  close(): Promise<void>
}

export interface GateAddress {
  readonly url: string
  readonly key: string
}

/** Longer than any call is held. */
const REPLY_MS_MAX = 120_000

export function createGateClient({ url, key }: GateAddress, connections: number): GateClient {
  const pool = new Pool(url, { connections, headersTimeout: REPLY_MS_MAX, bodyTimeout: REPLY_MS_MAX })
  const reading = { authorization: `Bearer ${key}` }
  const writing = { ...reading, 'content-type': 'application/json' }

  async function request<T>(options: Parameters<Pool['request']>[0]): Promise<T> {
    const { statusCode, body } = await pool.request(options)
    const text = await body.text()
    if (statusCode >= 300) throw new Error(`${options.method} ${options.path}: ${statusCode} ${text}`)
    // What each route answers is the contract's business; callers name the part that they read.
    return JSON.parse(text) as T
  }

  return {
    post: (path, body, { signal } = {}) =>
      request({ method: 'POST', path, headers: writing, body: JSON.stringify(body), signal: signal ?? null }),
    get: (path) => request({ method: 'GET', path, headers: reading }),
    send: (path, body, headers) =>
      request({ method: 'POST', path, headers: { ...writing, ...headers }, body }),
    close: () => pool.destroy(),
  }
}
