// MCP on stdio where the client closes the pipe early.
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import {
  clock,
  countingIds,
  createTestAudit,
  createTestLog,
  scriptedHandlers,
} from '../../../test/facade-kit.ts'
import { CREATED, OBLIGATIONS } from '../../../test/facade-replies.ts'
import { SHARED_CALLER } from '../../auth/shared-key.ts'
import { createDispatch } from '../dispatch.ts'
import { serveMcpOnStdio } from './stdio.ts'

const HELLO = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'a script', version: '1' },
  },
}
const READY = { jsonrpc: '2.0', method: 'notifications/initialized' }
const call = (id: number, name: string, given: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: given },
})

function session() {
  const begun = Promise.withResolvers<void>()
  const slow = Promise.withResolvers<void>()
  const { handlers } = scriptedHandlers({
    createTask: async () => {
      begun.resolve()
      await slow.promise
      return CREATED
    },
    openObligations: () => OBLIGATIONS,
  })
  const { log } = createTestLog()
  const ids = countingIds()
  const dispatch = createDispatch({ handlers, audit: createTestAudit().audit, log, ids, clock })
  const input = new PassThrough()
  const output = new PassThrough()
  const parts = { dispatch, caller: SHARED_CALLER, toolNames: 'underscore' as const, version: '1', ids, log }
  const { closed } = serveMcpOnStdio({ ...parts, input, output })
  const replies = text(output)
  return {
    begun: begun.promise,
    finish: () => slow.resolve(),
    write: (messages: readonly object[]) =>
      input.end(messages.map((it) => `${JSON.stringify(it)}\n`).join('')),
    answered: async () => {
      await closed
      output.end()
      const lines = (await replies).trim().split('\n')
      return lines.map((line) => (JSON.parse(line) as { id: number }).id)
    },
  }
}

test('what was asked for before the pipe was closed is answered', async () => {
  const { write, begun, finish, answered } = session()
  write([HELLO, READY, call(2, 'asyncgate_create_task', { type: 'echo' })])
  await begun
  setImmediate(finish)
  expect(await answered()).toEqual([1, 2])
})

test('a pipe that says nothing is closed at once', async () => {
  const { write, answered } = session()
  write([HELLO])
  expect(await answered()).toEqual([1])
})
