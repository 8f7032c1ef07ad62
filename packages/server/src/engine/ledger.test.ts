// The ledger's rules as tables: what discharges what, what locates, what fits, what makes two facts one.
import { createHash } from 'node:crypto'
import { canonicalJson } from '@asyncgate/sdk'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { configOf } from '../config.ts'
import {
  assertWithinLimits,
  bodyOf,
  discharges,
  type Fact,
  fits,
  hasLocator,
  isLocated,
  issueReceipt,
  isSubmittedType,
  isTerminalType,
  jsonBytes,
  opensObligation,
  receiptHash,
  receiptKey,
} from './ledger.ts'

const TYPES = [
  'task.assigned',
  'task.accepted',
  'task.retry_scheduled',
  'task.completed',
  'task.failed',
  'task.canceled',
  'task.result_ready',
  'lease.expired',
  'system.anomaly',
  'receipt.acknowledged',
  'schedule.created',
  'schedule.deleted',
  'schedule.paused',
  'x.note',
  'constructor',
]

describe('OBL-1: what discharges what', () => {
  const pairs = TYPES.flatMap((type) => TYPES.map((obligation) => [type, obligation] as const))
  const discharging = pairs.filter(([type, obligation]) => discharges(type, obligation))

  test('these pairs and no others', () => {
    expect(discharging).toEqual([
      ['task.completed', 'task.assigned'],
      ['task.failed', 'task.assigned'],
      ['task.canceled', 'task.assigned'],
      ['schedule.deleted', 'schedule.created'],
    ])
  })

  test('two types open an obligation, four end one', () => {
    expect(TYPES.filter(opensObligation)).toEqual(['task.assigned', 'schedule.created'])
    expect(TYPES.filter(isTerminalType)).toEqual([
      'task.completed',
      'task.failed',
      'task.canceled',
      'schedule.deleted',
    ])
  })

  test('principals bring types of two families', () => {
    expect(TYPES.filter(isSubmittedType)).toEqual([
      'schedule.created',
      'schedule.deleted',
      'schedule.paused',
      'x.note',
    ])
  })
})

describe('RCPT-7: what says where a result is', () => {
  test.each([
    ['url', { url: 'https://a/b' }],
    ['uri', { uri: 'urn:a' }],
    ['pointer', { pointer: 'blob:a' }],
    ['path', { path: '/a' }],
    ['key', { key: 'a' }],
    ['row_id', { row_id: 'a' }],
    ['a number', { row_id: 0 }],
    ['file_id', { file_id: 7 }],
    ['one of several members', { type: 'report', url: '', key: 'a' }],
  ])('%s does', (_what, artifact) => {
    expect(hasLocator(artifact)).toBe(true)
  })

  test.each([
    ['nothing', {}],
    ['an empty text', { url: '' }],
    ['null', { url: null }],
    ['true', { url: true }],
    ['an object', { url: { href: 'https://a' } }],
    ['a list', { path: ['a'] }],
    ['another member', { link: 'https://a', name: 'report' }],
    ['another case', { URL: 'https://a' }],
    ['a locator further down', { file: { url: 'https://a' } }],
  ])('%s does not', (_what, artifact) => {
    expect(hasLocator(artifact)).toBe(false)
  })

  test.each([
    ['one located artifact among others', [{ name: 'a' }, { url: 'https://a' }], null, true],
    ['a proof alone', [], { mode: 'push' }, true],
    ['artifacts that locate nothing', [{ name: 'a' }], null, false],
    ['nothing', [], null, false],
  ])('%s', (_what, artifacts, proof, located) => {
    expect(isLocated(artifacts, proof)).toBe(located)
  })
})

describe('RCPT-6: what fits', () => {
  const policy = configOf()
  /** A body of exactly so many bytes. */
  const body = (bytes: number) => bodyOf({ text: 'a'.repeat(bytes - jsonBytes(bodyOf({ text: '' }))) })
  const list = (count: number) => Array.from({ length: count }, (_, index) => String(index))
  const artifacts = (count: number) => bodyOf({ artifacts: list(count).map((url) => ({ url })) })

  test.each([
    ['a body at its limit', { parents: [], body: body(65_536) }, true],
    ['a body one byte longer', { parents: [], body: body(65_537) }, false],
    ['ten parents', { parents: list(10), body: bodyOf({}) }, true],
    ['eleven parents', { parents: list(11), body: bodyOf({}) }, false],
    ['a hundred artifacts', { parents: [], body: artifacts(100) }, true],
    ['a hundred and one artifacts', { parents: [], body: artifacts(101) }, false],
    ['artifacts that are no list', { parents: [], body: bodyOf({ artifacts: 'none' }) }, true],
  ])('%s', (_what, fact, allowed) => {
    const check = () => assertWithinLimits(fact, policy)
    if (allowed) check()
    else
      expect(check).toThrow(
        expect.objectContaining({
          code: 'receipt_too_large',
          message: expect.stringMatching(/^Receipt bodies are contracts, not chat messages\. /),
        }),
      )
  })

  test.each([
    ['a', 3],
    ['é', 4],
    ['€', 5],
    ['😀', 6],
    ['"', 4],
    ['\n', 4],
    ['\u0001', 8],
  ])('bytes are those of compact UTF-8 JSON: %j', (text, bytes) => {
    expect(jsonBytes(text)).toBe(bytes)
  })

  test('the schema version counts', () => {
    expect(fits(body(65_536), policy)).toBe(true)
    expect(fits({ ...body(65_536), a: 1 }, policy)).toBe(false)
    expect(bodyOf({ a: 1 })).toEqual({ schema_version: '1', a: 1 })
  })
})

const FACT: Fact = {
  receiptType: 'x.note',
  from: { kind: 'agent', id: 'alice' },
  to: { kind: 'human', id: 'bob' },
  taskId: 'task',
  leaseId: 'lease',
  scheduleId: 'schedule',
  parents: ['b', 'a'],
  body: { schema_version: '1', z: 1, a: [1e21, -0, 0.1, 'ö'] },
}

describe('RCPT-3: the hash', () => {
  test('is SHA-256 over the canonical text of exactly these members', () => {
    const text =
      '{"body":{"a":[1e+21,0,0.1,"ö"],"schema_version":"1","z":1},"from":{"id":"alice","kind":"agent"},' +
      '"lease_id":"lease","parents":["a","b"],"receipt_type":"x.note","schedule_id":"schedule","task_id":"task",' +
      '"to":{"id":"bob","kind":"human"}}'
    expect(receiptHash(FACT)).toBe(createHash('sha256').update(text).digest('hex'))
  })

  test('writes null for what is absent', () => {
    const bare = { ...FACT, taskId: null, leaseId: null, scheduleId: null, parents: [], body: {} }
    const text =
      '{"body":{},"from":{"id":"alice","kind":"agent"},"lease_id":null,"parents":[],"receipt_type":"x.note",' +
      '"schedule_id":null,"task_id":null,"to":{"id":"bob","kind":"human"}}'
    expect(receiptHash(bare)).toBe(createHash('sha256').update(text).digest('hex'))
  })

  test.each<[string, Partial<Fact>]>([
    ['the type', { receiptType: 'x.other' }],
    ['who it is from', { from: { kind: 'agent', id: 'other' } }],
    ['the kind of who it is from', { from: { kind: 'human', id: 'alice' } }],
    ['who it is to', { to: { kind: 'human', id: 'other' } }],
    ['the task', { taskId: null }],
    ['the lease', { leaseId: 'other' }],
    ['the schedule', { scheduleId: 'other' }],
    ['the parents', { parents: ['a'] }],
    ['the body', { body: { z: 2 } }],
  ])('depends on %s', (_what, change) => {
    expect(receiptHash({ ...FACT, ...change })).not.toBe(receiptHash(FACT))
  })

  test('does not depend on the order of parents and keys, nor on what a principal carries besides', () => {
    const from = { kind: 'agent', id: 'alice', instanceId: 'i' } as Fact['from']
    const body = { a: [1e21, 0, 0.1, 'ö'], z: 1, schema_version: '1' }
    expect(receiptHash({ ...FACT, parents: ['a', 'b'], from, body })).toBe(receiptHash(FACT))
  })

  test('does not depend on id, time, tenant and instance of the receipt', () => {
    const one = issueReceipt(FACT, { receiptId: '1', tenantId: 't', now: 1, instance: 'i' })
    const two = issueReceipt(FACT, { receiptId: '2', tenantId: 'u', now: 2, instance: 'j' })
    expect(two.hash).toBe(one.hash)
  })
})

describe('of any fact', () => {
  const text = fc.string({ unit: 'grapheme' })
  const kind = fc.constantFrom('agent', 'worker', 'system')
  const principal = fc.record({ kind, id: text })
  const optional = fc.option(text)
  const anyFact = fc.record({
    receiptType: fc.oneof(fc.constantFrom(...TYPES), text),
    from: principal,
    to: principal,
    taskId: optional,
    leaseId: optional,
    scheduleId: optional,
    parents: fc.array(text, { maxLength: 4 }),
    body: fc.dictionary(text, fc.jsonValue()),
  })
  const hashOf = (value: unknown) => createHash('sha256').update(canonicalJson(value)).digest('hex')

  test('the hash is that of its members in canonical JSON', () => {
    fc.assert(
      fc.property(anyFact, (fact) => {
        const { receiptType, taskId, leaseId, scheduleId, parents, ...same } = fact
        const ids = { task_id: taskId, lease_id: leaseId, schedule_id: scheduleId }
        const members = { receipt_type: receiptType, ...ids, ...same, parents: parents.toSorted() }
        expect(receiptHash(fact)).toBe(hashOf(members))
      }),
    )
  })

  test('the key is that of its list in canonical JSON', () => {
    fc.assert(
      fc.property(anyFact, text, (fact, anomaly) => {
        const { receiptType, taskId, from, leaseId, scheduleId, parents } = fact
        const distinct = receiptType === 'system.anomaly' ? anomaly : null
        const last = isSubmittedType(receiptType) ? 'hash' : distinct
        const list = [receiptType, taskId, from.kind, from.id, leaseId, scheduleId, parents.toSorted(), last]
        expect(receiptKey({ ...fact, body: { kind: anomaly } }, 'hash')).toBe(hashOf(list))
      }),
    )
  })

  test('a body fits exactly when its JSON has no more bytes than the limit', () => {
    const policy = configOf()
    fc.assert(
      fc.property(anyFact, fc.integer({ min: -300, max: 300 }), ({ body }, beyond) => {
        const maxBodyBytes = Math.max(0, jsonBytes(body) + beyond)
        const limited = { ...policy, receipts: { ...policy.receipts, maxBodyBytes } }
        expect(fits(body, limited)).toBe(jsonBytes(body) <= maxBodyBytes)
      }),
    )
  })

  test.each([-Number.MAX_VALUE, '\u0000\u001f'.repeat(9), '\ud800'.repeat(9), '€'.repeat(9), [[], {}]])(
    'what takes the most bytes is not thought shorter: %j',
    (value) => {
      const body = { [JSON.stringify(value)]: value, list: [value, value] }
      const policy = configOf()
      const maxBodyBytes = jsonBytes(body) - 1
      expect(fits(body, { ...policy, receipts: { ...policy.receipts, maxBodyBytes } })).toBe(false)
    },
  )
})

describe('RCPT-4: the key', () => {
  const keyOf = (fact: Fact) => receiptKey(fact, receiptHash(fact))
  const COMPLETED = { ...FACT, receiptType: 'task.completed' }
  const ANOMALY = { ...FACT, receiptType: 'system.anomaly', body: { kind: 'a', details: 1 } }

  test.each<[string, Fact, Partial<Fact>]>([
    ['order of parents', COMPLETED, { parents: ['a', 'b'] }],
    ['recipient', COMPLETED, { to: { kind: 'human', id: 'other' } }],
    ['body of a transition', COMPLETED, { body: { other: true } }],
    ['details of an anomaly', ANOMALY, { body: { kind: 'a', details: 2 } }],
  ])('%s: the same fact', (_what, fact, change) => {
    expect(keyOf({ ...fact, ...change })).toBe(keyOf(fact))
  })

  test.each<[string, Fact, Partial<Fact>]>([
    ['type', COMPLETED, { receiptType: 'task.failed' }],
    ['task', COMPLETED, { taskId: 'other' }],
    ['sender', COMPLETED, { from: { kind: 'agent', id: 'other' } }],
    ['kind of sender', COMPLETED, { from: { kind: 'service', id: 'alice' } }],
    ['lease', COMPLETED, { leaseId: null }],
    ['schedule', COMPLETED, { scheduleId: null }],
    ['parents', COMPLETED, { parents: ['a'] }],
    ['kind of anomaly', ANOMALY, { body: { kind: 'b', details: 1 } }],
    ['body of a submitted receipt', FACT, { body: { z: 2 } }],
    ['recipient of a submitted receipt', FACT, { to: { kind: 'human', id: 'other' } }],
  ])('%s: another fact', (_what, fact, change) => {
    expect(keyOf({ ...fact, ...change })).not.toBe(keyOf(fact))
  })
})
