// Bad input: whatever is sent, on either protocol, the answer is a declared error, and nothing has changed.
import { request } from 'node:http'
import {
  COMMON_ERRORS,
  contract,
  jsonSchema,
  type Operation,
  type OperationKey,
  routeOf,
} from '@asyncgate/sdk'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { configOf } from '../src/config.ts'
import { encodeCursor } from '../src/facade/page.ts'
import { type RunningGate, startGate } from '../src/gate.ts'
import { createLog } from '../src/log.ts'
import { systemIds, systemRandom } from '../src/ids.ts'
import { apiKey, CHEAP } from './api-key.ts'
import { type Protocol, PROTOCOLS } from './doors.ts'
import { inputOf } from './schema-values.ts'
import { callRaw, type RawAnswer, type RawCall } from './raw-calls.ts'
import { verifies } from './requirements.ts'
import { openTestStore, type OpenedStore, STORE_KINDS } from './stores.ts'
import { stateText } from './whole-state.ts'

const KEY = 'the-key-of-the-test'
const NOWHERE = '0197c5a4-7d2e-7c12-b6f0-2a9c4d1e8f03'
const OPERATIONS = Object.keys(contract) as OperationKey[]
const text = (bytes: number) => 'a'.repeat(bytes)
/** Its member `a` makes it so many bytes long. */
const filled = (bytes: number, around: { a: string; schema_version?: string }) => ({
  ...around,
  a: text(bytes - Buffer.byteLength(JSON.stringify(around))),
})
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

/** What the bad calls refer to, so that they get as far as they can. */
interface Scene {
  readonly queued: string
  readonly held: { readonly worker_id: string; readonly task_id: string; readonly lease_id: string }
  readonly succeeded: string
  readonly receipts: readonly string[]
}

interface Row {
  readonly call: (scene: Scene) => RawCall
  readonly error: string
  readonly field?: string
}

const task = (members: string): RawCall => ({ key: 'createTask', text: `{"type":"t",${members}}` })
const json = (key: OperationKey, input: object, path: Record<string, string> = {}): RawCall => ({
  key,
  path,
  text: JSON.stringify(input),
})
const onHeld = (key: OperationKey, scene: Scene, more: object = {}): RawCall => {
  const { task_id, ...rest } = scene.held
  const inPath = routeOf(contract[key]).pathFields.includes('task_id')
  return json(key, { ...rest, ...(inPath ? {} : { task_id }), ...more }, inPath ? { task_id } : {})
}
const invalid = (call: Row['call'], field?: string): Row => ({
  call,
  error: 'invalid_input',
  ...(field === undefined ? {} : { field }),
})
const note = (more: object) => ({ receipt_type: 'x.note', to: { kind: 'agent', id: 'a' }, ...more })

const ROWS: Record<string, Row> = {
  'an unknown field': invalid(() => task('"nonsense":1'), 'nonsense'),
  'an unknown field further down': invalid(() => task('"requirements":{"gpu":true}'), 'requirements.gpu'),
  'the tenant': invalid(() => task('"tenant_id":"other"'), 'tenant_id'),
  'a status': invalid(() => task('"status":"succeeded"'), 'status'),
  'an attempt': invalid(() => task('"attempt":7'), 'attempt'),
  'an owner': invalid(() => task('"created_by":{}'), 'created_by'),
  'a lease without its worker': invalid(
    ({ held }) => json('renewLease', { task_id: held.task_id, lease_id: held.lease_id }),
    'worker_id',
  ),
  'a text for a number': invalid(() => task('"priority":"5"'), 'priority'),
  'a number for a text': invalid(() => json('createTask', { type: 5 }), 'type'),
  'a list for an object': invalid(() => task('"payload":[1]'), 'payload'),
  'null for an object': invalid(() => task('"payload":null'), 'payload'),
  'a fraction for a whole number': invalid(() => task('"max_attempts":1.5'), 'max_attempts'),
  'a number beyond 32 bits': invalid(() => task('"priority":2147483648'), 'priority'),
  'a number beyond 53 bits': invalid(() => task('"priority":9007199254740993'), 'priority'),
  'a number beyond double precision': invalid(() => task('"priority":1e999'), 'priority'),
  'a negative delay': invalid(() => task('"delay_seconds":-1'), 'delay_seconds'),
  'a delay of centuries': invalid(() => task('"delay_seconds":99999999999'), 'delay_seconds'),
  'a number beyond double precision inside of a payload': invalid(
    () => task('"payload":{"n":-1e400}'),
    'payload.n',
  ),
  'NUL in a text': invalid(() => task('"summary":"a\\u0000"'), 'summary'),
  'NUL in a payload': invalid(() => task('"payload":{"a":["\\u0000"]}'), 'payload.a.0'),
  'NUL in a key': invalid(() => task('"payload":{"a\\u0000":1}'), 'payload'),
  'half of a surrogate pair': invalid(() => task('"summary":"\\ud800"'), 'summary'),
  'half of a surrogate pair in a key': invalid(() => task('"payload":{"\\udc00":1}'), 'payload'),
  'a pair in the wrong order': invalid(() => task('"payload":{"a":"\\udc00\\ud800"}'), 'payload.a'),
  'a key __proto__': invalid(() => task('"payload":{"__proto__":{"a":1}}'), 'payload'),
  'JSON 101 levels deep': invalid(() => task(`"payload":${nested(100)}`)),
  'JSON 100,000 levels deep': invalid(() => task(`"payload":${nested(100_000)}`)),
  'malformed JSON': invalid(() => ({ key: 'createTask', text: '{"type":' })),
  'a second value after the first': invalid(() => ({ key: 'createTask', text: '{"type":"t"}}' })),
  'a day that is none': invalid(() => task('"not_before":"2026-02-30T00:00:00Z"'), 'not_before'),
  'a time without a zone': invalid(() => task('"not_before":"2026-01-01T00:00:00"'), 'not_before'),
  'a time beyond the year 9999': invalid(
    () => task('"deadline_at":"9999-12-31T23:59:59-23:59"'),
    'deadline_at',
  ),
  'a time before the year 0': invalid(() => task('"deadline_at":"0000-01-01T00:00:00+23:59"'), 'deadline_at'),
  'an id that is none': invalid(() => json('getTask', {}, { task_id: 'nonsense' }), 'task_id'),
  'an id with an end of its own': invalid(() => json('getTask', {}, { task_id: `${NOWHERE}'--` }), 'task_id'),
  'too many dependencies': invalid(() =>
    json('createTask', { type: 't', depends_on: Array(101).fill(NOWHERE) }),
  ),
  'too many tasks': invalid(() => json('createTasks', { tasks: Array(1_001).fill({ type: 't' }) }), 'tasks'),
  'parents beyond all measure': invalid(
    () => json('submitReceipt', note({ parents: Array(10_001).fill(0) })),
    'parents',
  ),
  'artifacts beyond all measure': invalid(
    (scene) => onHeld('complete', scene, { artifacts: Array(10_001).fill(0) }),
    'artifacts',
  ),
  'too many outcomes': invalid(({ held }) =>
    json('settle', { worker_id: held.worker_id, outcomes: Array(1_001).fill({}) }),
  ),
  'a worker id of 201 characters': invalid(() => json('leaseNext', { worker_id: text(201) }), 'worker_id'),
  'no worker id': invalid(() => json('leaseNext', { worker_id: '' }), 'worker_id'),
  'a claim of 1001 tasks': invalid(
    () => json('leaseNext', { worker_id: 'w', max_tasks: 1_001 }),
    'max_tasks',
  ),
  'a claim of no tasks': invalid(() => json('leaseNext', { worker_id: 'w', max_tasks: 0 }), 'max_tasks'),
  'a wait of 61 seconds': invalid(
    () => json('leaseNext', { worker_id: 'w', wait_seconds: 61 }),
    'wait_seconds',
  ),
  'a principal that is the system': invalid(() => task('"principal_kind":"system"'), 'principal_kind'),
  'a receipt of a type of ours': invalid(
    () => json('submitReceipt', note({ receipt_type: 'task.completed' })),
    'receipt_type',
  ),
  'a payload of 1 MiB and a byte': {
    call: () => json('createTask', { type: 't', payload: filled(1_048_577, { a: '' }) }),
    error: 'payload_too_large',
  },
  'a result of 1 MiB and a byte': {
    call: (scene) => onHeld('complete', scene, { result: text(1_048_575) }),
    error: 'payload_too_large',
  },
  'progress of more than 1 MiB': {
    call: (scene) => onHeld('reportProgress', scene, { progress: { a: text(1_048_576) } }),
    error: 'payload_too_large',
  },
  'a receipt body of 65,537 bytes': {
    call: () => json('submitReceipt', note({ body: filled(65_537, { schema_version: '1', a: '' }) })),
    error: 'receipt_too_large',
  },
  'eleven parents': {
    call: ({ receipts }) => json('submitReceipt', note({ parents: receipts.slice(0, 11) })),
    error: 'receipt_too_large',
  },
  'a hundred and one artifacts': {
    call: (scene) => onHeld('complete', scene, { artifacts: Array(101).fill({ key: 'k' }) }),
    error: 'receipt_too_large',
  },
  'a hundred and one artifacts afterwards': {
    call: ({ succeeded }) =>
      json('attachArtifacts', { artifacts: Array(101).fill({ key: 'k' }) }, { task_id: succeeded }),
    error: 'receipt_too_large',
  },
  'an error that fills a receipt': {
    call: (scene) => onHeld('fail', scene, { error: { code: 'e', message: '', a: text(65_536) } }),
    error: 'receipt_too_large',
  },
  'another content type': {
    call: () => ({ ...task('"priority":1'), contentType: 'text/plain' }),
    error: 'unsupported_media_type',
  },
  'a form': {
    call: () => ({ ...task('"priority":1'), contentType: 'application/x-www-form-urlencoded' }),
    error: 'unsupported_media_type',
  },
  'a task that is not there': {
    call: () => json('cancelTask', {}, { task_id: NOWHERE }),
    error: 'not_found',
  },
  'a receipt that is not there': {
    call: () => json('ackReceipt', {}, { receipt_id: NOWHERE }),
    error: 'not_found',
  },
  'a parent that is not there': {
    call: () => json('submitReceipt', note({ parents: [NOWHERE] })),
    error: 'parent_not_found',
  },
  'a lease that is not there': {
    call: (scene) => onHeld('complete', scene, { lease_id: NOWHERE }),
    error: 'lease_invalid_or_expired',
  },
  'the id of a receipt for that of a task': {
    call: ({ receipts }) => json('getTask', {}, { task_id: receipts[0]! }),
    error: 'not_found',
  },
  'the lease of a task for the task': {
    call: ({ held }) =>
      json('start', { worker_id: held.worker_id, lease_id: held.lease_id }, { task_id: held.lease_id }),
    error: 'not_found',
  },
}

async function setScene(gate: RunningGate): Promise<Scene> {
  const call = async (key: OperationKey, input: object) => {
    const answer = await callRaw('REST', json(key, input), { url: gate.url, credential: KEY })
    expect(answer).toMatchObject({ ok: true })
    return answer.body
  }
  const { tasks } = (await call('createTasks', {
    tasks: Array.from({ length: 12 }, (_, at) => ({ type: at < 2 ? 'leased' : 'queued' })),
  })) as { tasks: { task_id: string; receipt_id: string }[] }
  const claimed = await call('leaseNext', { worker_id: 'w', max_tasks: 2, accept_types: ['leased'] })
  const [held, done] = (claimed.tasks as { task_id: string; lease_id: string }[]).map(
    ({ task_id, lease_id }) => {
      return { worker_id: 'w', task_id, lease_id }
    },
  )
  const outcomes = [{ task_id: done!.task_id, lease_id: done!.lease_id, action: 'complete' }]
  await call('settle', { worker_id: 'w', outcomes })
  return {
    queued: tasks[5]!.task_id,
    held: held!,
    succeeded: done!.task_id,
    receipts: tasks.map((created) => created.receipt_id),
  }
}

describe.each(STORE_KINDS)('on %s', (kind) => {
  let opened: OpenedStore
  let gate: RunningGate
  let scene: Scene
  let operator: string

  beforeAll(async () => {
    opened = await openTestStore(kind)
    const config = configOf({
      port: 0,
      auth: { api_key: KEY },
      log: { level: 'silent' },
      claim: { max_wait_seconds: 0 },
      lease: { sweep_interval_seconds: 3_600 },
    })
    gate = await startGate(config, {
      hashCost: CHEAP,
      store: opened.store,
      log: createLog(config),
    })
    const olga = { tenantId: 'default', keyId: systemIds.next(), role: 'operator', scopes: [] } as const
    const made = await apiKey(systemRandom, olga)
    await opened.store.addKey(made.key)
    operator = made.text
    scene = await setScene(gate)
  })
  afterAll(async () => {
    await gate.stop()
    await opened.dispose()
  })

  const target = (key?: OperationKey) => {
    const { role }: Pick<Operation, 'role'> = key === undefined ? {} : contract[key]
    return { url: gate.url, credential: role === undefined ? KEY : operator }
  }
  const state = () => stateText(gate.store, 'default')

  for (const protocol of PROTOCOLS) {
    verifies(
      ['OPS-1', 'OPS-6', 'ERR-1'],
      `every row is refused as it says over ${protocol}, on ${kind}`,
      async () => {
        const before = await state()
        for (const [what, { call, error, field }] of Object.entries(ROWS)) {
          const { body } = await callRaw(protocol, call(scene), target())
          expect([what, body.error, ...(field === undefined ? [] : [body.field])]).toEqual([
            what,
            error,
            ...(field === undefined ? [] : [field]),
          ])
        }
        expect((await state()) === before).toBe(true)
      },
    )

    verifies(
      'ERR-1',
      `no input of any operation gives an undeclared error over ${protocol}, on ${kind}`,
      async () => {
        let before = await state()
        for (const key of OPERATIONS) {
          await fc.assert(
            fc.asyncProperty(callsOf(key, scene, protocol), async (call) => {
              const answer = await callRaw(protocol, call, target(key))
              if (answer.ok) before = await state()
              else {
                expect([key, declared(key, answer)]).toEqual([key, 'declared'])
                expect((await state()) === before).toBe(true)
              }
            }),
            // Seeded, so that a run says the same twice; more runs find more, and cost as much.
            { numRuns: kind === 'memory' ? 25 : 8, seed: 7, interruptAfterTimeLimit: 900 },
          )
        }
      },
    )
  }
})

/** `declared`, or what it is instead. A route that is not there is where an empty or slashed path leads. */
function declared(key: OperationKey, { status, body }: RawAnswer): string {
  const { errors }: Operation = contract[key]
  const expected: string[] = [...errors, ...COMMON_ERRORS, 'not_found'].filter(
    (code) => code !== 'internal_error' && code !== 'database_unavailable',
  )
  return status < 500 && expected.includes(String(body.error)) ? 'declared' : JSON.stringify({ status, body })
}

/** Inputs that nearly fit, and inputs that do not. */
function callsOf(key: OperationKey, scene: Scene, protocol: Protocol): fc.Arbitrary<RawCall> {
  const known = {
    // Canceled, it could be worked on no more.
    task_id: [scene.queued, scene.succeeded, ...(key === 'cancelTask' ? [] : [scene.held.task_id])],
    lease_id: [scene.held.lease_id],
    receipt_id: scene.receipts,
    worker_id: [scene.held.worker_id],
    tenant_id: ['default', 'acme'],
    cursor: [
      encodeCursor('tasks', scene.queued),
      encodeCursor('receipts', 3),
      encodeCursor('obligations', 3),
    ],
  }
  return inputOf(jsonSchema(contract[key].input), known).map((input) => {
    const { pathFields, method } = routeOf(contract[key])
    const inPath = protocol === 'REST' ? pathFields : []
    const path = Object.fromEntries(inPath.map((name) => [name, pathText(input[name])]))
    const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !inPath.includes(name)))
    const written = JSON.stringify(rest)
    // JSON has numbers that JavaScript cannot hold; a query has none at all.
    return { key, path, text: method === 'GET' ? written : written.replaceAll('"1e999"', '1e999') }
  })
}

function pathText(value: unknown): string {
  return (typeof value === 'string' ? value : JSON.stringify(value ?? '')).toWellFormed()
}

describe('bodies as a whole', () => {
  let gate: RunningGate
  beforeAll(async () => {
    const config = configOf({
      port: 0,
      auth: { api_key: KEY },
      log: { level: 'silent' },
      database: { url: 'memory:' },
    })
    gate = await startGate(config)
  })
  afterAll(() => gate.stop())

  /** Says that 32 MiB and a byte will come, and sends none of it: the refusal does not wait for them. */
  const announce = (path: string) =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const { hostname, port } = new URL(gate.url)
      const headers = {
        authorization: `Bearer ${KEY}`,
        'content-type': 'application/json',
        'content-length': String(32 * 1_048_576 + 1),
      }
      const sent = request({ hostname, port, path, method: 'POST', headers }, (reply) => {
        let body = ''
        reply.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
        reply.on('end', () => {
          resolve({ status: reply.statusCode ?? 0, body })
          sent.destroy()
        })
      })
      sent.on('error', reject)
      sent.flushHeaders()
    })

  const POSTED = OPERATIONS.filter((key) => routeOf(contract[key]).method === 'POST')
  const paths = POSTED.map((key) => routeOf(contract[key]).path.replace(/\{\w+\}/, NOWHERE))
  verifies('ERR-1', 'more than 32 MiB are too large for every operation, on both protocols', async () => {
    for (const path of [...paths, '/mcp']) {
      const { status, body } = await announce(path)
      expect([path, status, body]).toEqual([path, 413, expect.stringContaining('payload_too_large')])
    }
  })

  const ENVELOPES: unknown[] = [
    ...[null, 1, 'x', [], {}, [1], { jsonrpc: '1.0', id: 1, method: 'tools/list' }, { jsonrpc: '2.0' }],
    ...[
      { method: 'tools/call' },
      { method: 'tools/call', params: null },
      { method: 'tools/call', params: [] },
    ],
    ...[
      { method: 'tools/call', params: {} },
      { method: 'tools/call', params: { name: 7 } },
    ],
    ...[
      { method: 'tools/call', params: { name: 'asyncgate_nothing' } },
      { method: 'constructor' },
      { method: 7 },
    ],
    ...[null, 7, 'x', [], true].map((args) => {
      return { method: 'tools/call', params: { name: 'asyncgate_get_config', arguments: args } }
    }),
    { method: 'tools/call', params: { name: 'asyncgate_get_config', arguments: {}, task: { ttl: -1 } } },
    {
      method: 'tools/call',
      params: { name: 'asyncgate_get_config', arguments: {}, _meta: { progressToken: {} } },
    },
    ...[
      '',
      'x',
      'asyncgate://',
      'asyncgate://task/',
      'asyncgate://task/x',
      'asyncgate://task/%00',
      'file:///etc',
    ].map((uri) => ({ method: 'resources/read', params: { uri } })),
    { method: 'resources/read', params: { uri: `asyncgate://receipt/${NOWHERE}` } },
    { method: 'resources/read', params: { uri: 7 } },
    { method: 'prompts/get', params: { name: 'bootstrap', arguments: { principal_kind: 'system' } } },
    { method: 'prompts/get', params: { name: 'bootstrap', arguments: { unknown: 'x' } } },
    { method: 'prompts/get', params: { name: 'bootstrap', arguments: { principal_id: 7 } } },
    { method: 'prompts/get', params: { name: '__proto__' } },
    { method: 'tools/list', params: { cursor: 'nonsense' } },
  ]

  verifies('ERR-1', 'no message to /mcp gives an internal error, whatever its envelope', async () => {
    for (const envelope of ENVELOPES) {
      const isMessage = typeof envelope === 'object' && envelope !== null && 'method' in envelope
      const message = isMessage ? { jsonrpc: '2.0', id: 1, ...envelope } : envelope
      const reply = await fetch(`${gate.url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${KEY}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify(message),
      })
      const body = await reply.text()
      expect([envelope, reply.status < 500]).toEqual([envelope, true])
      expect([envelope, body]).toEqual([envelope, expect.not.stringMatching(/-32603|internal_error/)])
    }
  })

  test('a server that was sent all of this still answers', async () => {
    expect((await fetch(`${gate.url}/health`)).status).toBe(200)
  })
})
