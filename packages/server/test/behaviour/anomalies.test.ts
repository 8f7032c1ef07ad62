// Anomalies: said once, to the owner, about what looks wrong; they change nothing.
import { expect } from 'vitest'
import { NO_CHANGES, NO_NEEDS } from '../no-changes.ts'
import type { Store } from '../../src/store/port.ts'
import { verifies } from '../requirements.ts'
import { type Bench, onEveryStore } from './harness.ts'
import { ALICE, BOB, hold, ofType, succeedUnlocated, take } from './steps.ts'

const SHORT = { lease: { default_ttl_seconds: 10, sweep_interval_seconds: 3_600 } }
const DAY_MS = 24 * 60 * 60 * 1_000

async function kinds(bench: Bench, task_id: string): Promise<unknown[]> {
  return ofType(await bench.receipts(task_id), 'system.anomaly').map((receipt) => receipt.body.kind)
}

async function loseLease(bench: Bench): Promise<void> {
  await bench.clock.advance(10_000)
  await bench.gate.sweep()
  await bench.clock.advance(5_000)
}

async function renew(bench: Bench, holding: Parameters<typeof bench.call<'renewLease'>>[1], times: number) {
  for (let count = 0; count < times; count += 1) await bench.call('renewLease', holding)
}

onEveryStore('anomalies', (open, _kind, store) => {
  verifies(
    ['OBL-6', 'LEASE-5'],
    'ten renewals are fine, the eleventh is told, further ones are not',
    async () => {
      const bench = await open()
      const { holding, task_id } = await hold(bench, { ...ALICE, recipient: BOB })
      await renew(bench, holding, 10)
      expect(await kinds(bench, task_id)).toEqual([])
      await renew(bench, holding, 1)
      expect(await kinds(bench, task_id)).toEqual(['excessive_renewals'])
      await renew(bench, holding, 12)
      expect(ofType(await bench.receipts(task_id), 'system.anomaly')).toMatchObject([
        {
          from: { kind: 'system', id: 'asyncgate' },
          to: { kind: 'agent', id: 'alice' },
          lease_id: holding.lease_id,
          body: { details: { renewals: 11, worker_id: 'w1' }, recommended_action: expect.any(String) },
        },
      ])
    },
  )

  verifies('OBL-6', 'another lease of the same task is another condition', async () => {
    const bench = await open()
    const { holding, task_id } = await hold(bench)
    await renew(bench, holding, 11)
    await bench.call('releaseLease', holding)
    await renew(bench, await take(bench), 11)
    expect(await kinds(bench, task_id)).toEqual(['excessive_renewals', 'excessive_renewals'])
  })

  verifies('OBL-6', 'three lost leases are fine, the fourth is told, further ones are not', async () => {
    const bench = await open(SHORT)
    const { task_id } = await hold(bench, ALICE)
    for (let lost = 1; lost <= 6; lost += 1) {
      await loseLease(bench)
      expect(await kinds(bench, task_id)).toEqual(lost <= 3 ? [] : ['repeated_lease_expiry'])
      await take(bench)
    }
    expect(ofType(await bench.receipts(task_id), 'system.anomaly')).toMatchObject([
      { to: { kind: 'agent', id: 'alice' }, body: { details: { expiries: 4, max_expiries: 20 } } },
    ])
  })

  verifies('OBL-6', 'a completion without a location is told at once', async () => {
    const bench = await open()
    const { task_id } = await succeedUnlocated(bench)
    expect(await kinds(bench, task_id)).toEqual(['locatability_missing'])
  })

  verifies('OBL-6', 'a day later it is told that the work cannot be found, once', async () => {
    const bench = await open(SHORT)
    const { task_id, receipt_id, completed_id } = await succeedUnlocated(bench, ALICE)
    await bench.clock.advance(DAY_MS - 1)
    await bench.gate.sweep()
    expect(await kinds(bench, task_id)).toEqual(['locatability_missing'])
    await bench.clock.advance(1)
    await bench.gate.sweep()
    expect(await kinds(bench, task_id)).toEqual(['locatability_missing', 'work_done_but_unlinkable'])
    expect(ofType(await bench.receipts(task_id), 'system.anomaly')[1]).toMatchObject({
      to: { kind: 'agent', id: 'alice' },
      parents: [receipt_id],
      body: { details: { assigned_receipt_id: receipt_id, completed_receipt_id: completed_id } },
    })
    await bench.clock.advance(DAY_MS)
    await bench.gate.sweep()
    expect(await kinds(bench, task_id)).toHaveLength(2)
  })

  verifies('OBL-6', 'what was attached within the day is no anomaly', async () => {
    const bench = await open(SHORT)
    const { task_id } = await succeedUnlocated(bench)
    await bench.call('attachArtifacts', { task_id, artifacts: [{ key: 'k' }] })
    await bench.clock.advance(2 * DAY_MS)
    await bench.gate.sweep()
    expect(await kinds(bench, task_id)).toEqual(['locatability_missing'])
  })

  verifies(
    'OBL-6',
    'a task that was left queued without attempts is told with each lease of it',
    async () => {
      const bench = await open()
      const { holding, task_id } = await hold(bench, ALICE)
      await bench.call('releaseLease', holding)
      await useUpAttempts(store(), bench, task_id)
      const first = await take(bench)
      await bench.call('releaseLease', first)
      const second = await take(bench)
      const body = { kind: 'attempts_exhausted_queued', details: { attempt: 3, max_attempts: 3 } }
      expect(ofType(await bench.receipts(task_id), 'system.anomaly')).toMatchObject([
        { to: { kind: 'agent', id: 'alice' }, lease_id: first.lease_id, body },
        { to: { kind: 'agent', id: 'alice' }, lease_id: second.lease_id, body },
      ])
      expect(await bench.call('complete', { ...second, store_result: true })).toMatchObject({ ok: true })
    },
  )

  verifies('OBL-6', 'anomalies change neither the task nor its lease', async () => {
    const bench = await open()
    const { holding, task_id } = await hold(bench)
    await renew(bench, holding, 10)
    const before = await bench.call('getTask', { task_id, worker_id: 'w1' })
    await renew(bench, holding, 1)
    expect(await bench.call('getTask', { task_id, worker_id: 'w1' })).toEqual(before)
    expect(await bench.call('complete', { ...holding, store_result: true })).toMatchObject({ ok: true })
  })
})

/** No rule leads there: the row is changed behind the engine's back, as a hand at the database would. */
async function useUpAttempts(store: Store, bench: Bench, taskId: string): Promise<void> {
  await store.transact({
    tenantId: bench.tenantId,
    now: bench.clock.now(),
    needs: { ...NO_NEEDS, taskIds: new Set([taskId]) },
    decide: ({ tasks }) => {
      const before = tasks.get(taskId)!
      const after = { ...before, state: { ...before.state, attempt: before.definition.maxAttempts } }
      return { changes: { ...NO_CHANGES, changedTasks: [{ before, after }] }, result: null }
    },
  })
}
