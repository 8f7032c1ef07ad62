// The audit log, and who has an id.
import { expect, test } from 'vitest'
import { createIds, systemIds, systemRandom } from '../../src/ids.ts'
import type { AuditQuery, AuditRow } from '../../src/store/audit.ts'
import { apiKey } from '../api-key.ts'
import { createSeededRandom } from '../seeded-random.ts'
import type { Given } from './conformance.ts'
import { createRig } from './rig.ts'

const T = 1_700_000_000_000
const EVERY: Omit<AuditQuery, 'tenantId'> = {
  event: null,
  severity: null,
  since: null,
  before: null,
  limit: 100,
}
let tenants = 0

function setUp(given: Given) {
  const { store, beside } = given()
  const seed = (tenants += 1)
  const tenantId = `audit ${process.pid} ${seed}`
  let now = T
  const ids = createIds({
    clock: { now: () => now, after: () => () => {} },
    random: createSeededRandom(seed),
  })
  const row = (over: Partial<AuditRow> = {}): AuditRow => {
    now += 1
    return {
      tenantId,
      auditId: ids.next(),
      at: now,
      event: 'authorization.failed',
      severity: 'warning',
      principal: { kind: 'agent', id: 'alice' },
      ip: '::1',
      userAgent: 'test/1',
      requestId: 'request',
      reason: 'createTask: ключ ✓',
      ...over,
    }
  }
  const list = (over: Partial<AuditQuery> = {}) => beside.listAudit({ ...EVERY, tenantId, ...over })
  return { store, tenantId, row, list }
}

export function audit(given: Given): void {
  test('rows come back as they were written, newest first, in their tenant alone', async () => {
    const { store, row, list } = setUp(given)
    const rows = [row(), row({ principal: null, ip: null, userAgent: null }), row()]
    await store.appendAudit(rows)
    await expect(list()).resolves.toEqual(rows.toReversed())
    await expect(list({ tenantId: 'another' })).resolves.toEqual([])
  })

  test('every filter, and pages', async () => {
    const { store, row, list } = setUp(given)
    const a = row()
    const b = row({ event: 'key.created', severity: 'info' })
    const c = row({ event: 'key.revoked', severity: 'info' })
    const d = row()
    await store.appendAudit([a, b])
    await store.appendAudit([c, d])
    await expect(list({ event: 'key.created' })).resolves.toEqual([b])
    await expect(list({ severity: 'info' })).resolves.toEqual([c, b])
    await expect(list({ since: c.at })).resolves.toEqual([d, c])
    await expect(list({ since: c.at, severity: 'info', event: 'key.revoked' })).resolves.toEqual([c])
    await expect(list({ limit: 2 })).resolves.toEqual([d, c])
    await expect(list({ before: c.auditId, limit: 2 })).resolves.toEqual([b, a])
  })

  test('all rows of one write are kept, or none', async () => {
    const { store, row, list } = setUp(given)
    const first = row()
    await store.appendAudit([first])
    await expect(store.appendAudit([row(), first, row()])).rejects.toThrow()
    await expect(list()).resolves.toEqual([first])
  })

  test('the oldest are pruned, no more at a time than asked', async () => {
    const { store, row, list } = setUp(given)
    const old = [row({ at: 1 }), row({ at: 2 }), row({ at: 3 })]
    const young = row()
    await store.appendAudit([...old, young])
    await expect(store.pruneAudit(T, 2)).resolves.toBe(2)
    await expect(list()).resolves.toEqual([young, old[2]])
    await expect(store.pruneAudit(T, 2)).resolves.toBe(1)
    await expect(store.pruneAudit(T, 2)).resolves.toBe(0)
    await expect(list()).resolves.toEqual([young])
  })

  test('the owner of an id is found among the other tenants', async () => {
    const { store } = given()
    const rig = createRig(store)
    const { tenantId } = rig
    await store.addTenant({
      tenantId,
      name: null,
      tier: 'enterprise',
      limits: {},
      createdAt: T,
      suspendedAt: null,
    })
    const { taskId, receiptId } = await rig.create()
    const [grant] = await rig.claim()
    const { key } = await apiKey(systemRandom, { tenantId, keyId: systemIds.next() })
    await store.addKey(key)
    for (const id of [taskId, receiptId, grant!.lease.leaseId, key.keyId]) {
      await expect(store.findForeignOwner('default', id)).resolves.toBe(tenantId)
      await expect(store.findForeignOwner(tenantId, id)).resolves.toBeNull()
    }
    await expect(store.findForeignOwner('default', systemIds.next())).resolves.toBeNull()
    await expect(store.findForeignOwner('default', 'no uuid')).resolves.toBeNull()
  })
}
