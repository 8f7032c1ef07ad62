// One kept connection with one request under way at a time: what is sent is one write, and of the reply as much is read as
// its content-length says. All that a load generator needs of HTTP.
import { connect } from 'node:net'

export interface Reply {
  readonly status: number
  readonly text: string
}

export interface KeptConnection {
  /** `head` ends before the content-length. */
  send(head: string, body: string): Promise<Reply>
  close(): void
}

const HEAD_END = '\r\n\r\n'
const LENGTH = /\r\ncontent-length: *(\d+)/i
const STATUS_AT = 'HTTP/1.1 '.length

/** `ended` is told once it is closed, by whomever: a server closes what was idle for long. */
export function openConnection(port: number, host: string, ended: () => void): KeptConnection {
  const socket = connect({ port, host, noDelay: true })
  let waiting: PromiseWithResolvers<Reply> | null = null
  let received: Buffer | null = null

  function settle(end: (waiting: PromiseWithResolvers<Reply>) => void): void {
    const current = waiting
    waiting = null
    received = null
    if (current !== null) end(current)
  }

  socket.on('data', (chunk: Buffer) => {
    const all = received === null ? chunk : Buffer.concat([received, chunk])
    received = all
    const reply = readReply(all)
    if (reply !== null) settle(({ resolve }) => resolve(reply))
  })
  socket.on('error', (error) => settle(({ reject }) => reject(error)))
  socket.on('close', () => {
    ended()
    settle(({ reject }) => reject(new Error('The server closed the connection.')))
  })

  return {
    send: (head, body) => {
      waiting = Promise.withResolvers<Reply>()
      socket.write(`${head}content-length: ${Buffer.byteLength(body)}${HEAD_END}${body}`)
      return waiting.promise
    },
    close: () => socket.destroy(),
  }
}

/** Null: there is more to come. */
function readReply(received: Buffer): Reply | null {
  const headEnd = received.indexOf(HEAD_END)
  if (headEnd < 0) return null
  const head = received.toString('latin1', 0, headEnd)
  const length = LENGTH.exec(head)
  if (length === null) throw new Error(`A reply without a content-length: ${head}`)
  const start = headEnd + HEAD_END.length
  const end = start + Number(length[1])
  if (received.length < end) return null
  return { status: Number(head.slice(STATUS_AT, STATUS_AT + 3)), text: received.toString('utf8', start, end) }
}
