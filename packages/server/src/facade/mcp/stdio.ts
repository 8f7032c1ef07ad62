// MCP over stdio: one connection, one caller, for as long as the client keeps the pipe open.
import type { Readable, Writable } from 'node:stream'
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
  const transport = new StdioServerTransport(parts.input, parts.output, { maxBufferSize: MESSAGE_BYTES_MAX })
  const handle = serveStdio(() => createMcpServer(parts, session), {
    transport,
    onerror: (error) => parts.log.error({ error }, 'MCP on stdio'),
  })
  const closed = new Promise<void>((resolve) => {
    const before = transport.onclose
    transport.onclose = () => {
      before?.()
      resolve()
    }
  })
  return { closed, close: () => handle.close() }
}
