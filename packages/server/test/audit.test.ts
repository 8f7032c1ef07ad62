// The audit log over a running server: what is on record, for whom, and what never is.
import { createClient } from '@asyncgate/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SHARED_CALLER } from '../src/auth/shared-key.ts'
import { configOf } from '../src/config.ts'
import { type RunningGate, startGate } from '../src/gate.ts'
import { createPruner } from '../src/service/pruner.ts'
import { CHEAP } from './api-key.ts'
import { type Door, openDoor, PROTOCOLS, REQUEST_ID } from './doors.ts'
import { verifies } from './requirements.ts'
import { openTestStore, type OpenedStore, STORE_KINDS } from './stores.ts'
import { createVirtualClock } from './virtual-clock.ts'

const SHARED = 'the-shared-key-of-the-test'
const OPERATOR = { ...SHARED_CALLER, principal: { kind: 'human', id: 'olga' }, role: 'operator' } as const
const ALICE = { role: 'agent', principal: { principal_kind: 'agent', principal_id: 'alice' } } as const
const NOWHERE = '0198c0de-dead-7000-8000-00000000beef'

describe.each(STORE_KINDS)('on %s', (kind) => {
  let opened: OpenedStore
  let gate: RunningGate
  const keys: Record<string, string> = {}
  const doors = new Map<string, Door>()

  beforeAll(async () => {
    opened = await openTestStore(kind)
    const config = configOf({ port: 0, auth: { api_key: SHARED }, log: { level: 'silent' } })
    gate = await startGate(config, { store: { ...opened.store, close: async () => {} }, hashCost: CHEAP })
    for (const tenant_id of ['a', 'b']) {
      const principal = { principal_kind: 'human', principal_id: tenant_id }
      await gate.dispatch('createTenant', { tenant_id }, { caller: OPERATOR })
      const made = await gate.dispatch('createTenantKey', { tenant_id, principal }, { caller: OPERATOR })
      keys[tenant_id] = (made as { api_key: string }).api_key
    }
    for (const protocol of PROTOCOLS) doors.set(protocol, openDoor(protocol, gate.url))
  })
  afterAll(async () => {
    for (const door of doors.values()) await door.close()
    await gate.stop()
    await opened.dispose()
  })

  const as = (apiKey: string) => createClient({ url: gate.url, apiKey, retry: false })

  /** What the log of a tenant has gained. */
  async function during(apiKey: string, act: () => Promise<unknown>) {
    const rows = async () => {
      await gate.audit.settled()
      return (await as(apiKey).listAudit({ limit: 200 })).audit
    }
    const before = new Set((await rows()).map(({ audit_id }) => audit_id))
    await act()
    return (await rows()).filter(({ audit_id }) => !before.has(audit_id)).toReversed()
  }

  for (const protocol of PROTOCOLS) {
    const call: Door['call'] = (key, input, credential) => doors.get(protocol)!.call(key, input, credential)

    verifies(
      'AUD-1',
      `a credential that will not do is on record, without it, over ${protocol} on ${kind}`,
      async () => {
        const guess = 'aga_thisIsNoKeyButSomebodyTriedItAllTheSame1234567890abcd'
        const rows = await during(SHARED, () => call('listTasks', {}, guess))
        expect(rows.at(-1)).toMatchObject({
          event: 'authentication.failed',
          severity: 'warning',
          tenant_id: 'default',
          principal: null,
          ip: expect.stringMatching(/127\.0\.0\.1|::1/),
          user_agent: expect.stringMatching(/.+/),
          request_id: REQUEST_ID,
          reason: expect.stringContaining('not valid'),
        })
        expect(JSON.stringify(rows)).not.toContain(guess.slice(4, 20))
      },
    )

    verifies(
      'AUD-1',
      `a refusal for want of rights is in the log of its tenant, over ${protocol} on ${kind}`,
      async () => {
        const { api_key: alice } = await as(keys.a!).createKey(ALICE)
        const rows = await during(keys.a!, () => call('leaseNext', { worker_id: 'alice' }, alice))
        expect(rows).toMatchObject([
          {
            event: 'authorization.failed',
            severity: 'warning',
            tenant_id: 'a',
            principal: ALICE.principal,
            request_id: REQUEST_ID,
            reason: expect.stringMatching(/^leaseNext: .*tasks:lease/),
          },
        ])
      },
    )

    verifies(
      ['AUD-1', 'TEN-2'],
      `asking for what is another tenant's is critical, and on record where the caller cannot read it, over ${protocol} on ${kind}`,
      async () => {
        const { task_id } = await as(keys.a!).createTask({ type: 'secret' })
        const ask = (id: string) => call('getTask', { task_id: id }, keys.b!)
        const own = await during(keys.b!, () => ask(task_id))
        expect(own).toEqual([])
        const rows = await during(SHARED, () => ask(task_id))
        expect(rows).toMatchObject([
          {
            event: 'cross_tenant.attempted',
            severity: 'critical',
            tenant_id: 'default',
            principal: { principal_kind: 'human', principal_id: 'b' },
            request_id: REQUEST_ID,
            reason: `Tenant b asked for ${task_id}, which is of tenant a. Operation getTask.`,
          },
        ])
        expect(await during(SHARED, () => ask(NOWHERE))).toEqual([])
      },
    )

    verifies(
      'AUD-1',
      `making, rotating and revoking a key is on record, over ${protocol} on ${kind}`,
      async () => {
        const secrets: string[] = []
        const rows = await during(keys.a!, async () => {
          const made = (await call('createKey', ALICE, keys.a!)).body
          const next = (await call('rotateKey', { key_id: made.key_id }, keys.a!)).body
          await call('revokeKey', { key_id: next.key_id }, keys.a!)
          secrets.push(String(made.api_key), String(next.api_key))
        })
        expect(rows.map(({ event, severity }) => [event, severity])).toEqual([
          ['key.created', 'info'],
          ['key.rotated', 'info'],
          ['key.revoked', 'info'],
        ])
        expect(rows[0]!.reason).toMatch(
          /^createKey: key [0-9a-f-]{36} \(aga_\w{10}…\) for agent\/alice role agent$/,
        )
        for (const secret of secrets) expect(JSON.stringify(rows)).not.toContain(secret.slice(14))
      },
    )
  }

  verifies('AUD-1', `what an operator does to a tenant is in both logs, on ${kind}`, async () => {
    const acts = async () => {
      for (const key of ['suspendTenant', 'resumeTenant'] as const)
        await gate.dispatch(key, { tenant_id: 'b' }, { caller: OPERATOR })
      await gate.dispatch('createTenant', { tenant_id: 'b' }, { caller: OPERATOR })
    }
    const logs: unknown[] = []
    logs.push((await during(SHARED, acts)).map(({ event, reason }) => [event, reason]))
    logs.push((await during(keys.b!, acts)).map(({ event, reason }) => [event, reason]))
    const wanted = [
      ['tenant.suspended', 'suspendTenant: tenant b'],
      ['tenant.resumed', 'resumeTenant: tenant b'],
    ]
    expect(logs).toEqual([wanted, wanted])
  })

  verifies('AUD-1', `rows are kept for 90 days, on ${kind}`, async () => {
    const clock = createVirtualClock(Date.now())
    const pruner = createPruner({ store: opened.store, clock })
    await gate.audit.settled()
    const count = async () => (await as(SHARED).listAudit({})).audit.length
    const before = await count()
    await clock.advance(90 * 86_400_000 - 600_000)
    expect(await pruner.runOnce()).toBe(0)
    expect(await count()).toBe(before)
    await clock.advance(600_001)
    expect(await pruner.runOnce()).toBeGreaterThan(0)
    expect(await count()).toBe(0)
  })

  test('an act that could not be written down is not answered as done', async () => {
    const config = configOf({ port: 0, auth: { api_key: SHARED }, log: { level: 'silent' } })
    const broken = await startGate(config, {
      store: {
        ...opened.store,
        close: async () => {},
        appendAudit: async () => {
          throw new Error('the audit log is full')
        },
      },
      hashCost: CHEAP,
    })
    const admin = createClient({ url: broken.url, apiKey: SHARED, retry: false })
    await expect(admin.createKey(ALICE)).rejects.toMatchObject({ code: 'internal_error' })
    await broken.stop()
  })
})
