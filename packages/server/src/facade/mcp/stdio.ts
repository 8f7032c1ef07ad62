// MCP over stdio: one connection, one caller, for as long as the client keeps the pipe open.
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { Caller } from '../../auth/caller.ts'
import type { CallLog } from '../dispatch.ts'
import { createMcpServer, type McpParts } from './server.ts'

/** As over HTTP. */
const MESSAGE_BYTES_MAX = 32 * 1_048_576

export interface McpStdioParts extends McpParts {
  readonly caller: Caller
  readonly ids: { next(): string }
  readonly log: CallLog
  /** Default the process's own. */
  readonly input?: Readable
  readonly output?: Writable
}

export interface McpStdio {
  /** Resolves when the client has closed the pipe, or `close` was called. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

export function serveMcpOnStdio(parts: McpStdioParts): McpStdio {
  const session = { caller: parts.caller, nextRequestId: () => parts.ids.next() }
  const { input: from = process.stdin } = parts
  const input = new PassThrough()
  const transport = new StdioServerTransport(input, parts.output, { maxBufferSize: MESSAGE_BYTES_MAX })
  const handle = serveStdio(() => createMcpServer(parts, session), {
    transport,
    onerror: (error) => parts.log.error({ error }, 'MCP on stdio'),
  })
  const closed = new Promise<void>((resolve) => {
    const before = transport.onclose
    transport.onclose = () => {
      before?.()
      from.unpipe(input).pause() // one that is read would keep the process from ending
      resolve()
    }
  })
  endAfterReplies(transport, { from, to: input })
  return { closed, close: () => handle.close() }
}

/** What waits for work or for an outcome is not waited for: whoever closes the pipe may be gone. */
const REPLIES_MS_MAX = 2_000

/** The end of the input would close the session, and with it what is being carried out would go unanswered. */
function endAfterReplies(
  transport: StdioServerTransport,
  { from, to }: { from: Readable; to: PassThrough },
): void {
  const unanswered = new Set<unknown>()
  let ended = false
  const endIfIdle = () => {
    if (ended && to.readableLength === 0 && unanswered.size === 0) to.end()
  }
  const receive = transport.onmessage
  transport.onmessage = (message) => {
    if ('method' in message && 'id' in message) unanswered.add(message.id)
    receive?.(message)
  }
  const send = transport.send.bind(transport)
  transport.send = async (message) => {
    await send(message)
    if (!('method' in message)) unanswered.delete(message.id)
    endIfIdle()
  }
  from.pipe(to, { end: false })
  from.once('end', () => {
    ended = true
    setTimeout(() => to.end(), REPLIES_MS_MAX).unref()
    to.on('data', () => setImmediate(endIfIdle))
    setImmediate(endIfIdle)
  })
  from.once('close', () => {
    if (!ended) to.end()
  })
}
