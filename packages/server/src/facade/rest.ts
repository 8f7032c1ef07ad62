// REST: one loop over the contract. Each operation's entry says its route; everything else is shared.
import { contract, GateError, type Operation, type OperationKey, routeOf } from '@asyncgate/sdk'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../auth/caller.ts'
import { answerAtOnce } from './bodies.ts'
import type { Dispatch } from './dispatch.ts'
import { sendError } from './http-errors.ts'
import { type Identify, identifyFirst, originOf } from './identify.ts'
import { createInputReader } from './rest-input.ts'
import type { Signals } from './signals.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the route's step `identifyFirst`. */
    caller: Caller | null
  }
}

export interface RestParts {
  readonly dispatch: Dispatch
  readonly identify: Identify
  readonly signals: Signals
}

export function mountRest(app: FastifyInstance, parts: RestParts): void {
  app.decorateRequest('caller', null)
  for (const key of Object.keys(contract) as OperationKey[]) mountOperation(app, key, parts)
}

function mountOperation(app: FastifyInstance, key: OperationKey, parts: RestParts): void {
  const { dispatch, identify } = parts
  const operation: Operation = contract[key]
  const { method, path } = routeOf(operation)
  const readInput = createInputReader(operation)
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<object> => {
    setReplyHeaders(operation, reply)
    const input = readInput(request)
    const call = callOf(request, reply, parts)
    try {
      const result = await dispatch(key, input, call)
      reply.code(successStatus(operation, result))
      return result
    } catch (error) {
      if (error instanceof GateError) return sendError(error, request, reply)
      throw error
    }
  }
  app.route({
    method,
    url: fastifyPath(path),
    onRequest: [identifyFirst(identify), ...(method === 'GET' ? [] : [answerAtOnce(answer)])],
    handler: answer,
  })
}

export function callOf(request: FastifyRequest, reply: FastifyReply, { signals }: RestParts) {
  return {
    caller: callerOf(request),
    requestId: request.id,
    origin: originOf(request),
    signal: signals(reply),
    admission: request.admission ?? undefined,
  }
}

export function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === null) throw new Error('a route that needs a caller does not identify it')
  return caller
}

export function fastifyPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}

/** Something that was there already was not created. */
function successStatus(operation: Operation, result: object): number {
  const isDuplicate = 'is_duplicate' in result && result.is_duplicate === true
  return isDuplicate ? 200 : (operation.status ?? 200)
}

function setReplyHeaders({ deprecated }: Operation, reply: FastifyReply): void {
  reply.header('cache-control', 'no-store')
  if (!deprecated) return
  const successor: Operation = contract[deprecated.successor as OperationKey]
  reply.header('x-asyncgate-deprecated', 'true').header('deprecation', 'true')
  reply.header('link', `<${routeOf(successor).path}>; rel="successor-version"`)
}
