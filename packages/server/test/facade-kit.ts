// For the tests of the facades alone: handlers that answer from a script, and an app around them.
import { GateError, type OperationKey } from '@asyncgate/sdk'
import type { Caller } from '../src/auth/caller.ts'
import { createAuthenticate } from '../src/auth/authenticate.ts'
import { SHARED_CALLER } from '../src/auth/shared-key.ts'
import type { Audit, AuditEntry } from '../src/facade/audit.ts'
import { type CallLog, createDispatch } from '../src/facade/dispatch.ts'
import type { CallContext, Handlers } from '../src/facade/handler.ts'
import { createHostGuard, createOriginGuard } from '../src/facade/host-guard.ts'
import { createHttp, type HttpParts } from '../src/facade/http.ts'
import { createAddressLimit } from '../src/limits/address-limit.ts'
import { createFailedLogins } from '../src/limits/failed-logins.ts'

export const KEY = 'a-shared-key-of-the-tests'
export const TASK_ID = '0197c5a4-7d2e-7c11-9d3a-5b2f4e8a1c01'
export const RECEIPT_ID = '0197c5a4-7d2e-7c12-b6f0-2a9c4d1e8f03'

export interface Seen {
  readonly key: OperationKey
  readonly input: unknown
  readonly context: CallContext
}

type Script = { [K in OperationKey]?: (input: never, context: CallContext) => unknown }

/** Every operation answers what the script says, else an empty object; what came in is kept in `seen`. */
export function scriptedHandlers(script: Script = {}) {
  const seen: Seen[] = []
  const handler = (key: OperationKey) => async (input: never, context: CallContext) => {
    seen.push({ key, input, context })
    return script[key]?.(input, context) ?? {}
  }
  // A stub for the facades: whether real handlers answer what the contract says is tested with the real ones.
  const handlers = new Proxy({}, { get: (_target, key) => handler(key as OperationKey) }) as Handlers
  return { handlers, seen }
}

export function createTestLog() {
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = []
  const write = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields: { ...fields }, message })
  }
  const log: CallLog = { info: write('info'), error: write('error') }
  return { log, lines }
}

/** Keeps what it is told. */
export function createTestAudit() {
  const entries: AuditEntry[] = []
  const audit: Audit = {
    record: async (entry) => void entries.push(entry),
    note: (entry) => void entries.push(entry),
    lookOut: () => {},
    settled: async () => {},
  }
  return { audit, entries }
}

export function countingIds() {
  let count = 0
  return { next: () => `id-${(count += 1)}` }
}

export const clock = { now: () => 0 }

export function callerWith(caller: Partial<Caller>): Caller {
  return { ...SHARED_CALLER, ...caller }
}

const UNLIMITED = { bucket: 'global', rate: null }
const UNLIMITED_LIMITER = { anonymous: UNLIMITED, admit: () => ({ shown: UNLIMITED, isUsed: false }) }

export function createTestApp(script: Script = {}, parts: Partial<HttpParts> = {}) {
  const { handlers, seen } = scriptedHandlers(script)
  const { log, lines } = createTestLog()
  const ids = countingIds()
  const { audit, entries } = createTestAudit()
  const app = createHttp({
    dispatch: createDispatch({ handlers, audit, log, ids, clock }),
    audit,
    authenticate: createAuthenticate({ mode: 'keys', apiKey: KEY }, refuseKeys),
    limiter: UNLIMITED_LIMITER,
    signIns: createAddressLimit({ perMinute: 0, clock }),
    failedLogins: createFailedLogins({ perMinute: 0, clock }),
    hostGuard: createHostGuard({ loopback: true }),
    originGuard: createOriginGuard({ loopback: true }),
    asksForCredentials: true,
    toolNames: 'underscore',
    version: '1.2.3',
    ids,
    log,
    health: async () => ({ status: 'ok' }),
    ready: async () => true,
    metrics: async () => 'asyncgate_up 1\n',
    metricsPublic: false,
    ...parts,
  })
  return { app, seen, lines, entries }
}

const refuseKeys = async () => {
  throw new GateError('unauthenticated', 'The API key is not valid.')
}

export const authorized = { authorization: `Bearer ${KEY}` }
