// The client, and MCP through the client, against the real HTTP server: what goes in and out is the same.
import { type Client, createClient, GateError } from '@asyncgate/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApp, KEY, TASK_ID } from '../../../test/facade-kit.ts'
import { CONFIG, CREATED } from '../../../test/facade-replies.ts'
import { SHARED_CALLER } from '../../auth/shared-key.ts'
import { createRemoteDispatch, remoteCaller } from './remote.ts'

const { app, seen } = createTestApp({
  createTask: () => CREATED,
  getConfig: () => CONFIG,
  getTask: () => {
    throw new GateError('not_found', 'No such task.', { hint: 'look' })
  },
})
let client: Client
beforeAll(async () => {
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  client = createClient({ url, apiKey: KEY })
})
afterAll(() => app.close())

test('the client reaches the handler', async () => {
  await expect(
    client.createTask({ type: 't', payload: { text: 'ü😀' }, idempotency_key: 'k' }),
  ).resolves.toEqual(CREATED)
  expect(seen.at(-1)?.input).toMatchObject({ type: 't', payload: { text: 'ü😀' }, idempotency_key: 'k' })
})

test('the remote door answers and refuses as the local one', async () => {
  const dispatch = createRemoteDispatch(client)
  await expect(dispatch('createTask', { type: 't' }, { caller: SHARED_CALLER })).resolves.toEqual(CREATED)
  const error = (await dispatch('getTask', { task_id: TASK_ID }, { caller: SHARED_CALLER }).catch(
    (e: unknown) => e,
  )) as GateError
  expect(error.body()).toMatchObject({
    error: 'not_found',
    message: 'No such task.',
    retryable: false,
    hint: 'look',
  })
})

test('the remote caller decides what is listed', async () => {
  const caller = await remoteCaller(client)
  expect(caller).toMatchObject({ tenantId: 'default', role: 'admin', speaksForAll: true })
  expect(caller.scopes.has('tasks:write')).toBe(true)
})
