// The connection on which instances speak to each other, over LISTEN and NOTIFY and outside of every transaction. It comes
// back by itself after an outage, and knows whether anybody else is on the line.
//
// A notification within the transaction would be heard 0.2 ms sooner, but its commit takes 0.3 ms longer, holds up every other
// one that notifies, and fails when the database can take no more notifications.
import { Client, type ClientConfig, DatabaseError } from 'pg'
import type { Log } from '../../log.ts'
import { type Company, createCompany } from './company.ts'

const CHANNEL = 'asyncgate'
const RECONNECT_MS_MIN = 250
const RECONNECT_MS_MAX = 5_000
/** How often an instance says that it is there. A newcomer is answered at once, so it begins faster: it is to know soon. */
const BEAT_MS = 10_000
const FIRST_BEAT_MS = 1_000

/** Said first on every connection; whoever hears it answers. */
const HELLO = 'hello'
const ANSWER = 'here'
const BEAT = 'beat'

export interface HintLine {
  open(): void
  /** Lost where there is no connection. */
  say(messages: readonly string[]): void
  /** Nobody else would hear. */
  isAlone(): boolean
  close(): Promise<void>
}

/** As long as there is a connection. */
interface Connected {
  readonly client: Client
  readonly company: Company
  /** Until it is known whether anybody else is there. */
  nextBeatMs: number
  beatTimer: NodeJS.Timeout | null
}

/**
 * The types leave it out: the server's process for this connection, so that one's own messages can be told apart. A pooler
 * gives a number of its own: behind one, everything seems to be said by others, so that nobody believes to be alone.
 */
function processOf(client: Client): number | null {
  return (client as Client & { processID: number | null }).processID
}

export function createHintLine({
  config,
  log,
  onMessage,
}: {
  config: ClientConfig
  log: Log | undefined
  onMessage: (message: string) => void
}): HintLine {
  let line: Connected | null = null
  let opened = false
  let closed = false
  let reconnectMs = RECONNECT_MS_MIN
  let reconnectTimer: NodeJS.Timeout | null = null

  /** Never rejects: a failure is the reason to try again later. */
  async function connect(): Promise<void> {
    const client = new Client(config)
    client.on('error', () => lost(client))
    client.on('end', () => lost(client))
    client.on('notification', ({ processId, payload = '' }) => {
      if (line?.client !== client) return
      if (processId === processOf(client)) hearOwn(line, payload)
      else hearOther(line, payload)
    })
    try {
      await client.connect()
      await client.query(`listen ${CHANNEL}`)
      if (closed) return await client.end()
      line = { client, company: createCompany(), nextBeatMs: FIRST_BEAT_MS, beatTimer: null }
      reconnectMs = RECONNECT_MS_MIN
      beat(line, HELLO)
    } catch (error) {
      log?.debug({ error }, 'no connection for hints; trying again')
      client.end().catch(() => {})
      retry()
    }
  }

  function lost(client: Client): void {
    if (line?.client !== client) return
    hangUp()?.catch(() => {})
    retry()
  }

  function hangUp(): Promise<void> | undefined {
    if (line?.beatTimer) clearTimeout(line.beatTimer)
    const last = line?.client
    line = null
    return last?.end()
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

  /** Not an answer, which is no beat: several newcomers are answered in a row. */
  function hearOwn({ company }: Connected, message: string): void {
    if (message === HELLO || message === BEAT) company.hearOwnBeat()
  }

  function hearOther({ company }: Connected, message: string): void {
    company.hearOther()
    if (message === HELLO) say([ANSWER])
    else if (message !== BEAT && message !== ANSWER) onMessage(message)
  }

  function beat(on: Connected, message: string): void {
    say([message])
    const pauseMs = on.company.isKnown() ? BEAT_MS : on.nextBeatMs
    on.nextBeatMs = Math.min(on.nextBeatMs * 2, BEAT_MS)
    on.beatTimer = setTimeout(beat, pauseMs, on, BEAT).unref()
  }

  function say(messages: readonly string[]): void {
    const client = line?.client
    const text = 'select pg_notify($1, value) from json_array_elements_text($2::json)'
    const values = [CHANNEL, JSON.stringify(messages)]
    client?.query({ name: 'notify', text, values }).catch((error: unknown) => {
      // What the database did not say itself is about the connection.
      if (!(error instanceof DatabaseError)) lost(client)
    })
  }

  return {
    open: () => {
      if (opened || closed) return
      opened = true
      void connect()
    },
    say,
    isAlone: () => line?.company.isAlone() === true,
    close: async () => {
      closed = true
      if (reconnectTimer !== null) clearTimeout(reconnectTimer)
      await hangUp()?.catch(() => {})
    },
  }
}
