// The audit log under load and without its database.
import { expect, test } from 'vitest'
import { createTestLog } from '../../test/facade-kit.ts'
import { systemIds } from '../ids.ts'
import type { AuditRow } from '../store/audit.ts'
import { createMemoryStore } from '../store/memory/index.ts'
import { type AuditEntry, createAudit } from './audit.ts'

const ENTRY: AuditEntry = {
  event: 'authentication.failed',
  tenantId: 'default',
  principal: null,
  origin: { ip: '::1', userAgent: 'test' },
  requestId: 'request',
  reason: 'The API key is not valid.',
}

function setUp() {
  const writes: (readonly AuditRow[])[] = []
  const gates: (() => void)[] = []
  let isDown = false
  let isSlow = false
  const store = {
    ...createMemoryStore(),
    appendAudit: async (rows: readonly AuditRow[]) => {
      writes.push(rows)
      if (isSlow) await new Promise<void>((resolve) => gates.push(resolve))
      if (isDown) throw new Error('no database')
    },
  }
  const { log, lines } = createTestLog()
  const audit = createAudit({ store, clock: { now: () => 5 }, ids: systemIds, log })
  return {
    ...{ audit, writes, lines },
    setDown: () => (isDown = true),
    setSlow: (slow: boolean) => {
      isSlow = slow
      for (const open of gates.splice(0)) open()
    },
  }
}

test('what comes while a write is under way goes together in the next', async () => {
  const { audit, writes, setSlow } = setUp()
  setSlow(true)
  for (let count = 0; count < 50; count += 1) audit.note(ENTRY)
  setSlow(false)
  await audit.settled()
  expect(writes.map((rows) => rows.length)).toEqual([1, 49])
})

test('a flood is bounded, and what is missing of it is said', async () => {
  const { audit, writes, setSlow } = setUp()
  setSlow(true)
  const known = { ...ENTRY, principal: { kind: 'agent', id: 'alice' } } as const
  for (let count = 0; count < 1_500; count += 1) audit.note(known)
  setSlow(false)
  await audit.settled()
  audit.note(known)
  await audit.settled()
  const rows = writes.flat()
  expect(rows.filter(({ event }) => event === 'authentication.failed')).toHaveLength(1 + 1_000 + 1)
  expect(rows.filter(({ event }) => event === 'audit.incomplete')).toMatchObject([
    { severity: 'critical', tenantId: 'default', reason: expect.stringMatching(/^499 rows are missing/) },
  ])
  expect(Math.max(...writes.map((batch) => batch.length))).toBe(100)
})

test('strangers of one network fill no log; those of others, and callers who are known, are on record', async () => {
  const { audit, writes } = setUp()
  const from = (ip: string) => ({ ...ENTRY, origin: { ip, userAgent: null } })
  for (let count = 0; count < 500; count += 1) audit.note(from(`2001:db8::${count.toString(16)}`))
  await audit.settled()
  expect(writes.flat()).toHaveLength(300)
  audit.note(from('203.0.113.9'))
  audit.note({ ...from('2001:db8::1'), principal: { kind: 'agent', id: 'alice' } })
  await audit.settled()
  expect(writes.flat().slice(300)).toMatchObject([
    { event: 'audit.incomplete', reason: expect.stringMatching(/^200 rows are missing/) },
    { ip: '203.0.113.9' },
    { ip: '2001:db8::1' },
  ])
})

test('without its database an act is not recorded and says so; a refusal is logged', async () => {
  const { audit, lines, setDown } = setUp()
  setDown()
  await expect(audit.record(ENTRY)).rejects.toThrow('no database')
  audit.note(ENTRY)
  await audit.settled()
  await audit.settled()
  expect(lines).toMatchObject([{ level: 'error', fields: { request_id: 'request' } }])
})

test('what a client calls itself is cut and cleaned', async () => {
  const { audit, writes } = setUp()
  await audit.record({ ...ENTRY, origin: { ip: null, userAgent: `a\0\ud800${'b'.repeat(1_000)}` } })
  expect(writes[0]![0]!.userAgent).toMatch(/^a\ufffdb{298}$/)
})
