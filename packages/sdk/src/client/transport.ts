// How a request gets to the server and its answer back: by fetch, which every runtime has. Node has something faster:
// node-transport.ts.

export interface Request {
  readonly method: 'GET' | 'POST'
  /** With the query; what the server's url ends with goes before it. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** It does no harm to do it twice. */
  readonly isRepeatable: boolean
}

export interface Answer {
  readonly status: number
  readonly text: string
  /** Null where there is none. */
  header(name: 'retry-after' | 'location'): string | null
}

/** Rejects when there is no answer, or the signal fires before it is whole. */
export type Transport = (request: Request, signal: AbortSignal | undefined) => Promise<Answer>

export function overFetch(url: string, send: typeof fetch): Transport {
  return async ({ path, isRepeatable: _isOurs, ...request }, signal) => {
    const response = await send(`${url}${path}`, { ...request, ...(signal && { signal }) })
    const { status, headers } = response
    return { status, text: await response.text(), header: (name) => headers.get(name) }
  }
}
