// Plain tool calls are answered without the MCP library: nobody may be able to tell. The same requests go to two servers
// under the same clock and the same ids, of which one leaves everything to the library; both must answer the same bytes.
import { GateError } from '@asyncgate/sdk'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Caller } from '../src/auth/caller.ts'
import { DEFAULT_SCOPES } from '../src/auth/roles.ts'
import { SHARED_CALLER } from '../src/auth/shared-key.ts'
import { configOf } from '../src/config.ts'
import { createHttp } from '../src/facade/http.ts'
import { createHostGuard, createOriginGuard } from '../src/facade/host-guard.ts'
import { plainCallOf } from '../src/facade/mcp/plain-call.ts'
import { type Gate, openGate } from '../src/gate.ts'
import { createIds } from '../src/ids.ts'
import { createLog } from '../src/log.ts'
import { LIBRARY_REQUESTS, type McpRequest, PLAIN_REQUESTS } from './mcp-requests.ts'
import { createSeededRandom } from './seeded-random.ts'
import { createVirtualClock } from './virtual-clock.ts'

const worker: Caller = {
  ...SHARED_CALLER,
  role: 'worker',
  principal: { kind: 'worker', id: 'indexer' },
  scopes: new Set(DEFAULT_SCOPES.worker),
  speaksForAll: false,
}

interface Server {
  readonly app: FastifyInstance
  readonly gate: Gate
  readonly taskId: string
  /** What was logged since the last look. */
  takeLines(): unknown[]
}

async function openServer(answersPlainCalls: boolean): Promise<Server> {
  const lines: object[] = []
  const clock = createVirtualClock()
  const config = configOf({ database: { url: 'memory:' }, instance_id: 'same', auth: { mode: 'dev' } })
  const ids = createIds({ clock, random: createSeededRandom(2) })
  const log = createLog(config, { write: (line) => lines.push({ ...JSON.parse(line), time: null }) })
  const gate = await openGate(config, { clock, ids, log, random: createSeededRandom(1) })
  const app = createHttp({
    ...gate,
    answersPlainCalls,
    authenticate: async ({ authorization }) => {
      if (authorization === 'Bearer nobody') throw new GateError('unauthenticated', 'The key is not valid.')
      return authorization === 'Bearer worker' ? worker : SHARED_CALLER
    },
    ...gate.limits,
    hostGuard: createHostGuard({ loopback: false }),
    originGuard: createOriginGuard({ loopback: false }),
    asksForCredentials: true,
    toolNames: 'underscore',
    version: '1.2.3',
    metrics: async () => '',
    metricsPublic: false,
    ids,
    log,
  })
  const created = await gate.dispatch('createTask', { type: 'first' }, { caller: SHARED_CALLER })
  const { task_id: taskId } = created as { task_id: string }
  return { app, gate, taskId, takeLines: () => lines.splice(0) }
}

let direct: Server
let library: Server
beforeAll(async () => {
  direct = await openServer(true)
  library = await openServer(false)
})
afterAll(async () => {
  for (const { app, gate } of [direct, library]) {
    await app.close()
    await gate.stop()
  }
})

function send({ app, taskId }: Server, request: McpRequest): Promise<LightMyRequestResponse> {
  const payload = request.body.replaceAll('$task', taskId)
  return app.inject({ method: 'POST', url: '/mcp', headers: request.headers, payload })
}

/** All but how the bytes are cut on the wire. */
function visible({ statusCode, headers, body }: LightMyRequestResponse) {
  const { date: _date, 'content-length': _length, 'transfer-encoding': _encoding, ...rest } = headers
  return { statusCode, headers: rest, body }
}

async function compare(request: McpRequest): Promise<LightMyRequestResponse> {
  const [one, other] = [await send(direct, request), await send(library, request)]
  expect(visible(one)).toEqual(visible(other))
  expect(direct.takeLines()).toEqual(library.takeLines())
  return one
}

const isPlain = ({ headers, body }: McpRequest) => plainCallOf(headers, JSON.parse(body)) !== null

describe('answered without the library', () => {
  test.each(PLAIN_REQUESTS)('$what', async (request) => {
    expect(isPlain(request)).toBe(true)
    const reply = await compare(request)
    expect([reply.statusCode, reply.headers['content-type']]).toEqual([200, 'application/json'])
    const { result } = reply.json()
    expect(result.isError ? result.structuredContent.error : 'ok').toBe(request.ends ?? 'ok')
  })
})

describe('left to the library', () => {
  test.each(LIBRARY_REQUESTS)('$what', async (request) => {
    expect(isPlain(request)).toBe(false)
    await compare(request)
  })
})

test('what the door refuses is refused before either', async () => {
  const [{ headers, body }] = PLAIN_REQUESTS as [McpRequest]
  const reply = await compare({
    what: 'nobody',
    body,
    headers: { ...headers, authorization: 'Bearer nobody' },
  })
  expect(reply.statusCode).toBe(401)
  for (const broken of ['', '{', '"\ud800', '\u0000'])
    expect((await compare({ what: 'no JSON', headers, body: broken })).statusCode).toBe(400)
})

test('both ways have done the same', async () => {
  const every = { limit: 200 }
  const [one, other] = await Promise.all(
    [direct, library].map(({ gate }) => gate.dispatch('listReceipts', every, { caller: SHARED_CALLER })),
  )
  expect(one).toEqual(other)
  expect((one as { receipts: unknown[] }).receipts.length).toBeGreaterThan(5)
})
