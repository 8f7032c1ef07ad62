// How the bodies of requests are received: as JSON and nothing else, in time, and at once where they are there already.
import type { IncomingMessage } from 'node:http'
import { GateError } from '@asyncgate/sdk'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { readJson } from './read-json.ts'

/** Bodies that are read as a whole must be there in time; the server's own limit is that for streamed content. */
export function cutOffSlowBodies(app: FastifyInstance, requestMs: number): void {
  app.addHook('preParsing', ({ raw, routeOptions }, _reply, payload, done) => {
    const hasBody =
      raw.headers['content-length'] !== undefined || raw.headers['transfer-encoding'] !== undefined
    if (hasBody && !routeOptions.config.isStreamed) {
      const timer = setTimeout(() => raw.destroy(), requestMs).unref()
      raw.once('close', () => clearTimeout(timer))
    }
    done(null, payload)
  })
}

/**
 * What was answered before its body was there (a refusal, mostly) has only this long left to send the rest, which nobody reads:
 * who needs no key to be refused must not hold a socket for as long as content may take.
 */
export function cutOffUnreadBodies(app: FastifyInstance, requestMs: number): void {
  app.server.on('request', (request, response) => {
    response.once('finish', () => {
      if (request.complete) return
      const cutOff = () => {
        if (!request.complete) request.socket.destroy() // else the connection has gone on to the next request
      }
      const timer = setTimeout(cutOff, requestMs).unref()
      request.once('close', () => clearTimeout(timer))
    })
  })
}

/** `application/json` and nothing else: a form post from a web page must not be taken for a call. */
export function takeJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async ({ headers }: FastifyRequest, body: Buffer) => {
      const encoding = headers['content-encoding'] ?? 'identity'
      if (encoding === 'identity') return readJson(body)
      const message = `Bodies are taken as they are, not as ${encoding}. Leave Content-Encoding out.`
      throw new GateError('unsupported_media_type', message)
    },
  )
}

/**
 * Nearly all bodies come with the head of their request and are complete a turn of the event loop later. These are read and answered
 * from here: to follow each as a stream takes a seventh of all that the server does for a small call, the store apart. Whatever is written
 * otherwise, or is more than Node reads ahead, goes on the usual way, to the same answer.
 */
export function answerAtOnce(
  answer: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
): onRequestHookHandler {
  return (request, reply, done) => {
    const { raw } = request
    if (!isPlainJson(raw)) return done()
    setImmediate(() => {
      if (raw.socket.destroyed) return // there is nobody to be answered
      if (!raw.complete) return done()
      try {
        request.body = readJson(raw.read(raw.readableLength) ?? NOTHING)
      } catch (error) {
        void reply.header('connection', 'close').send(error) // as on the usual way
        return
      }
      answer(request, reply)
        .then((payload) => {
          if (payload !== undefined) void reply.send(payload) // undefined: it has been sent
        })
        .catch((error: unknown) => reply.send(error))
    })
  }
}

const NOTHING = Buffer.alloc(0)

function isPlainJson({ headers }: IncomingMessage): boolean {
  return headers['content-type'] === 'application/json' && headers['content-encoding'] === undefined
}
