// A program that serves MCP on stdio with handlers from a script, for the official clients to start.
import { GateError } from '@asyncgate/sdk'
import { SHARED_CALLER } from '../src/auth/shared-key.ts'
import { createDispatch } from '../src/facade/dispatch.ts'
import { serveMcpOnStdio } from '../src/facade/mcp/stdio.ts'
import { clock, countingIds, createTestAudit, createTestLog, scriptedHandlers } from './facade-kit.ts'
import { CREATED, OBLIGATIONS } from './facade-replies.ts'

const { handlers } = scriptedHandlers({
  createTask: () => CREATED,
  openObligations: () => OBLIGATIONS,
  getTask: () => {
    throw new GateError('not_found', 'No such task. Check the id.')
  },
})
const { log } = createTestLog()
const ids = countingIds()
const dispatch = createDispatch({ handlers, audit: createTestAudit().audit, log, ids, clock })
const { closed } = serveMcpOnStdio({
  dispatch,
  toolNames: 'underscore',
  version: '1.2.3',
  caller: SHARED_CALLER,
  ids,
  log,
})
await closed
