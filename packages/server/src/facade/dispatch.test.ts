// The one door: the order of its steps, and what each refuses.
import { GateError } from '@asyncgate/sdk'
import { expect, test } from 'vitest'
import { DEFAULT_SCOPES } from '../auth/roles.ts'
import { type CallRecord, createDispatch } from './dispatch.ts'
import {
  callerWith,
  clock,
  countingIds,
  createTestAudit,
  createTestLog,
  scriptedHandlers,
  TASK_ID,
} from '../../test/facade-kit.ts'

function setUp(script: Parameters<typeof scriptedHandlers>[0] = {}, parts: object = {}) {
  const { handlers, seen } = scriptedHandlers(script)
  const { log, lines } = createTestLog()
  const { audit } = createTestAudit()
  const records: CallRecord[] = []
  const metrics = (record: CallRecord) => void records.push(record)
  const dispatch = createDispatch({ handlers, audit, log, clock, ids: countingIds(), metrics, ...parts })
  return { dispatch, seen, lines, records }
}

const caller = callerWith({})
const worker = callerWith({
  principal: { kind: 'worker', id: 'w' },
  role: 'worker',
  scopes: new Set(DEFAULT_SCOPES.worker),
  speaksForAll: false,
})

test('the handler gets parsed input with defaults and the one who acts', async () => {
  const { dispatch, seen } = setUp({ createTask: () => ({ task_id: TASK_ID }) })
  const signal = new AbortController().signal
  const input = { type: 't', principal_id: 'bob', principal_instance_id: 's1' }
  const reply = await dispatch('createTask', input, { caller, requestId: 'r1', signal })
  expect(reply).toEqual({ task_id: TASK_ID })
  expect(seen).toMatchObject([
    {
      key: 'createTask',
      input: { type: 't', metadata: {}, payload: {} },
      context: { caller, acting: { kind: 'agent', id: 'bob' }, instanceId: 's1', requestId: 'r1', signal },
    },
  ])
})

test('a missing scope is forbidden before the input is looked at', async () => {
  const { dispatch, seen } = setUp()
  await expect(dispatch('createTask', { nonsense: true }, { caller: worker })).rejects.toMatchObject({
    code: 'forbidden',
    details: { required_scope: 'tasks:write', your_role: 'worker' },
  })
  expect(seen).toEqual([])
})

test('one of several scopes suffices', async () => {
  const { dispatch } = setUp()
  await expect(dispatch('getTask', { task_id: TASK_ID }, { caller: worker })).resolves.toEqual({})
})

test('an operation without scopes is for every caller', async () => {
  const { dispatch } = setUp()
  const nobody = callerWith({ scopes: new Set() })
  await expect(dispatch('getConfig', {}, { caller: nobody })).resolves.toEqual({})
})

test.each([
  ['unknown field', { type: 't', tenant_id: 'x' }, 'tenant_id'],
  ['status', { type: 't', status: 'succeeded' }, 'status'],
  ['attempt', { type: 't', attempt: 1 }, 'attempt'],
  ['wrong type', { type: 5 }, 'type'],
  ['missing', {}, 'type'],
  ['huge number', { type: 't', priority: 1e300 }, 'priority'],
  ['NUL', { type: 'a\0' }, 'type'],
])('%s is invalid_input that names the field', async (_what, input, field) => {
  const { dispatch, seen } = setUp()
  await expect(dispatch('createTask', input, { caller })).rejects.toMatchObject({
    code: 'invalid_input',
    details: { field },
  })
  expect(seen).toEqual([])
})

test('a refusal of the handler passes through as it is, and is counted', async () => {
  const refusal = new GateError('not_found', 'No such task.', { hint: 1 })
  const { dispatch, records, lines } = setUp({
    getTask: () => {
      throw refusal
    },
  })
  await expect(dispatch('getTask', { task_id: TASK_ID }, { caller, requestId: 'r' })).rejects.toBe(refusal)
  expect(records).toEqual([{ operation: 'getTask', outcome: 'not_found', durationMs: 0 }])
  expect(lines).toMatchObject([{ level: 'info', fields: { request_id: 'r', outcome: 'not_found' } }])
})

test('an unknown error tells nothing of the inside, and is logged with its cause and request id', async () => {
  const cause = new Error('password=hunter2 at /srv/db.ts')
  const { dispatch, lines } = setUp({
    getTask: () => {
      throw cause
    },
  })
  const error = await dispatch('getTask', { task_id: TASK_ID }, { caller, requestId: 'r' }).catch(
    (e: unknown) => e,
  )
  expect(error).toMatchObject({ code: 'internal_error', cause })
  expect(JSON.stringify((error as GateError).body())).not.toMatch(/hunter2|srv/)
  expect(lines).toContainEqual(
    expect.objectContaining({
      level: 'error',
      fields: expect.objectContaining({ error: cause, request_id: 'r' }),
    }),
  )
})

test('a call whose client has gone is not our failure', async () => {
  const gone = AbortSignal.abort()
  const { dispatch, lines } = setUp({
    leaseNext: (_input, { signal }) => {
      throw signal.reason
    },
  })
  const call = dispatch('leaseNext', { worker_id: 'w' }, { caller, signal: gone })
  await expect(call).rejects.toMatchObject({ code: 'database_unavailable' })
  expect(lines.filter(({ level }) => level === 'error')).toEqual([])
})

const shown = { bucket: 'b', rate: null }
const slowDown = () => {
  throw new GateError('rate_limit_exceeded', 'Slow down.', { retry_after: 7 })
}
const limiter = { anonymous: shown, admit: slowDown, admitTasks: async () => {}, refundTasks: async () => {} }

test('a second call of one request needs leave of its own, and that comes first', async () => {
  const { dispatch } = setUp({}, { limiter })
  const admission = { shown, isUsed: false }
  await dispatch('getConfig', {}, { caller: worker, admission })
  await expect(dispatch('createTask', {}, { caller: worker, admission })).rejects.toMatchObject({
    code: 'rate_limit_exceeded',
  })
})

test('calls from within the process are not limited', async () => {
  const { dispatch } = setUp({}, { limiter: { ...limiter, admitTasks: slowDown } })
  for (const _ of [1, 2]) await dispatch('createTask', { type: 'x' }, { caller })
})

test('a call from within the process gets a request id of its own', async () => {
  const { dispatch, seen } = setUp()
  await dispatch('getConfig', {}, { caller })
  expect(seen[0]?.context.requestId).toBe('id-1')
})
