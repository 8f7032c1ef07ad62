// How a server says that it is well: health, durability and metrics, on every store.
import { createClient } from '@asyncgate/sdk'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { configOf } from '../src/config.ts'
import { type RunningGate, startGate } from '../src/gate.ts'
import { verifies } from './requirements.ts'
import { openTestStore, type OpenedStore, STORE_KINDS } from './stores.ts'
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

const KEY = 'the-key-of-the-test'

/** The test's PostgreSQL does not wait for the disk, and the server must not hide that. */
const DURABILITY = { memory: 'none', sqlite: 'full', postgres: 'reduced' } as const

describe.each(STORE_KINDS)('on %s', (kind) => {
  let opened: OpenedStore
  let gate: RunningGate
  let clock: VirtualClock

  beforeAll(async () => {
    opened = await openTestStore(kind)
    clock = createVirtualClock()
    const config = configOf({
      port: 0,
      auth: { api_key: KEY },
      log: { level: 'silent' },
      lease: { sweep_interval_seconds: 3_600 },
    })
    gate = await startGate(config, { store: opened.store, clock })
    await workABit()
  })
  afterAll(async () => {
    await gate.stop()
    await opened.dispose()
  })

  /** One task ends, one is lost once, one waits, one is delayed. */
  async function workABit(): Promise<void> {
    const client = createClient({ url: gate.url, apiKey: KEY, retry: false })
    await client.createTask({ type: 'lost' })
    await client.leaseNext({ worker_id: 'w1', accept_types: ['lost'], lease_ttl_seconds: 10 })
    await clock.advance(10_000)
    await gate.sweep()
    await clock.advance(5_000)
    await client.leaseNext({ worker_id: 'w1', accept_types: ['lost'] })
    await client.createTask({ type: 'done' })
    const { tasks } = await client.leaseNext({ worker_id: 'w2', accept_types: ['done'] })
    const { task_id, lease_id } = tasks[0]!
    await clock.advance(2_000)
    await client.complete({ worker_id: 'w2', task_id, lease_id, store_result: true })
    await client.createTask({ type: 'waits' })
    await clock.advance(3_000)
    await client.createTask({ type: 'later', delay_seconds: 60 })
    await expect(client.getTask({ task_id: '0197c5a4-7d2e-7c12-b6f0-2a9c4d1e8f03' })).rejects.toThrow()
  }

  verifies('OPER-1', `health tells what there is to do and how durable it is, on ${kind}`, async () => {
    const reply = await fetch(`${gate.url}/health`)
    expect([reply.status, await reply.json()]).toEqual([
      200,
      {
        status: 'ok',
        database: { kind, status: 'ok' },
        durability: { level: DURABILITY[kind], detail: expect.any(String) },
        workers: 1,
        oldest_pending_task: '2026-01-01T00:00:17.000Z',
        tasks: { queued: 2, leased: 1, running: 0, succeeded: 1, failed: 0, canceled: 0 },
        open_obligations: 3,
        version: expect.any(String),
        instance_id: gate.instanceId,
        uptime: 20,
        waiting_claims: 0,
      },
    ])
  })

  verifies('OPER-1', `live and ready are asked for apart, without a key, on ${kind}`, async () => {
    for (const [path, status] of [
      ['/health/live', 'live'],
      ['/health/ready', 'ready'],
    ] as const) {
      const reply = await fetch(`${gate.url}${path}`)
      expect([reply.status, await reply.json()]).toEqual([200, { status }])
    }
  })

  verifies('OPER-1', `metrics count what has happened, on ${kind}`, async () => {
    const reply = await fetch(`${gate.url}/metrics`, { headers: { authorization: `Bearer ${KEY}` } })
    expect(reply.headers.get('content-type')).toContain('text/plain')
    const lines = (await reply.text()).split('\n')
    const expected = [
      'asyncgate_tasks_created_total{type="done"} 1',
      'asyncgate_tasks_ended_total{type="done",outcome="succeeded"} 1',
      'asyncgate_task_duration_seconds_sum{type="done",outcome="succeeded"} 2',
      'asyncgate_leases_granted_total{type="lost"} 2',
      'asyncgate_leases_expired_total 1',
      'asyncgate_receipts_total{receipt_type="lease.expired"} 1',
      'asyncgate_receipts_total{receipt_type="task.assigned"} 4',
      'asyncgate_requests_total{operation="create_task",code="ok"} 4',
      'asyncgate_requests_total{operation="get_task",code="not_found"} 1',
      'asyncgate_tasks{status="queued"} 2',
      'asyncgate_tasks_ready 1',
      'asyncgate_tasks_delayed 1',
      'asyncgate_ready_oldest_age_seconds 3',
      'asyncgate_active_leases 1',
      'asyncgate_workers 1',
      'asyncgate_open_obligations 3',
      'asyncgate_worker_heartbeat_age_seconds{worker_id="w2"} 3',
      'asyncgate_claim_duration_seconds_count{granted="yes"} 3',
    ]
    expect(expected.filter((line) => !lines.includes(line))).toEqual([])
    expect(lines.filter((line) => line !== '' && !/^(#|asyncgate_)/.test(line))).toEqual([])
  })

  verifies('OPER-1', `metrics are for who has a key, on ${kind}`, async () => {
    expect((await fetch(`${gate.url}/metrics`)).status).toBe(401)
  })
})
