// Hints between instances over LISTEN and NOTIFY, on a connection of their own and outside of every
// transaction. They may be lost (poolers, outages); whoever waits also polls.
import { Client, type ClientConfig } from 'pg'
import type { Log } from '../../log.ts'
import type { Hint } from '../port.ts'

const CHANNEL = 'asyncgate'
/** A notification has a price for every instance: the first goes at once, those that follow it soon go together. */
const PAUSE_MS = 5
const RECONNECT_MS_MIN = 250
const RECONNECT_MS_MAX = 5_000

export interface Hints {
  send(hint: Hint): void
  listen(listener: (hint: Hint) => void): () => void
  close(): Promise<void>
}

/**
 * The types leave it out: the server's process for this connection, so that one's own hints can be told
 * apart.
 */
function ownProcess(client: Client): number | null {
  return (client as Client & { processID: number | null }).processID
}

export function createHints({ config, log }: { config: ClientConfig; log: Log | undefined }): Hints {
  const listeners = new Set<(hint: Hint) => void>()
  const waiting = new Map<string, Hint>()
  let client: Client | null = null
  let started = false
  let closed = false
  let reconnectMs = RECONNECT_MS_MIN
  let pause: NodeJS.Timeout | null = null
  let reconnectTimer: NodeJS.Timeout | null = null

  function start(): void {
    if (started || closed) return
    started = true
    void connect()
  }

  /** Never rejects: a failure is the reason to try again later. */
  async function connect(): Promise<void> {
    const candidate = new Client(config)
    candidate.on('error', () => lost(candidate))
    candidate.on('end', () => lost(candidate))
    candidate.on('notification', (message) => {
      if (message.processId !== ownProcess(candidate)) receive(message.payload)
    })
    try {
      await candidate.connect()
      await candidate.query(`listen ${CHANNEL}`)
      if (closed) return await candidate.end()
      client = candidate
      reconnectMs = RECONNECT_MS_MIN
    } catch (error) {
      log?.debug({ error }, 'no connection for hints; trying again')
      candidate.end().catch(() => {})
      retry()
    }
  }

  function lost(candidate: Client): void {
    if (client !== candidate) return
    client = null
    candidate.end().catch(() => {})
    retry()
  }

  function retry(): void {
    if (closed || reconnectTimer !== null) return
    reconnectTimer = setTimeout(() => {
      reconnectTimer = null
      void connect()
    }, reconnectMs)
    reconnectTimer.unref()
    reconnectMs = Math.min(reconnectMs * 2, RECONNECT_MS_MAX)
  }

  function receive(payload: string | undefined): void {
    const [ready, ended, ...tenant] = (payload ?? '').split(' ')
    const hint = { tenantId: tenant.join(' '), ready: ready === '1', ended: ended === '1' }
    for (const listener of listeners) listener(hint)
  }

  function flush(): void {
    pause = waiting.size === 0 ? null : setTimeout(flush, PAUSE_MS).unref()
    if (waiting.size === 0) return
    const payloads = [...waiting.values()].map(
      ({ tenantId, ready, ended }) => `${Number(ready)} ${Number(ended)} ${tenantId}`,
    )
    waiting.clear()
    const notify = 'select pg_notify($1, value) from json_array_elements_text($2::json)'
    // Only a hint: a failure shows itself as a lost connection.
    client
      ?.query({ name: 'notify', text: notify, values: [CHANNEL, JSON.stringify(payloads)] })
      .catch(() => {})
  }

  return {
    send: (hint) => {
      start()
      const { tenantId } = hint
      const before = waiting.get(tenantId)
      waiting.set(tenantId, {
        tenantId,
        ready: hint.ready || before?.ready === true,
        ended: hint.ended || before?.ended === true,
      })
      if (pause === null) flush()
    },
    listen: (listener) => {
      start()
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: async () => {
      closed = true
      if (pause !== null) clearTimeout(pause)
      if (reconnectTimer !== null) clearTimeout(reconnectTimer)
      const last = client
      client = null
      await last?.end().catch(() => {})
    },
  }
}
