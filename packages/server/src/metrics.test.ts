// Metrics: named asyncgate_*, fed by events, with a bound on labels that users choose.
import { expect, test } from 'vitest'
import { createMetrics, type StoreStats } from './metrics.ts'

const stats: StoreStats = {
  byStatus: { queued: 4, failed: 1 },
  ready: 2,
  delayed: 2,
  activeLeases: 3,
  workers: 1,
  oldestReadyAt: 7_500,
  openObligations: 6,
}

function metricsAt(now = 0) {
  return createMetrics({ collect: async () => stats, waitingClaims: () => 5, now: () => now })
}

test('a commit is counted by type, outcome and receipt type', async () => {
  const metrics = metricsAt()
  metrics.onCommitted({
    commandCount: 3,
    durationMs: 4,
    tasksCreated: [{ type: 'echo' }, { type: 'echo' }],
    tasksEnded: [{ type: 'echo', outcome: 'failed', durationMs: 1_500 }],
    leasesGranted: [{ type: 'echo', waitedMs: 200 }],
    leasesExpired: 2,
    receiptTypes: ['task.assigned', 'task.assigned', 'task.failed'],
  })
  const text = await metrics.text()
  expect(text).toContain('asyncgate_tasks_created_total{type="echo"} 2')
  expect(text).toContain('asyncgate_tasks_ended_total{type="echo",outcome="failed"} 1')
  expect(text).toContain('asyncgate_task_duration_seconds_sum{type="echo",outcome="failed"} 1.5')
  expect(text).toContain('asyncgate_leases_granted_total{type="echo"} 1')
  expect(text).toContain('asyncgate_leases_expired_total 2')
  expect(text).toContain('asyncgate_receipts_total{receipt_type="task.assigned"} 2')
  expect(text).toContain('asyncgate_commit_batch_size_sum 3')
})

test('requests, claims, workers and the store are shown', async () => {
  const metrics = metricsAt(10_000)
  metrics.onRequest({ operation: 'createTask', outcome: 'ok', durationMs: 3 })
  metrics.onClaim({ durationMs: 7, grantedCount: 0 })
  metrics.onWorkerSeen({ workerId: 'w1', at: 4_000 })
  const text = await metrics.text()
  expect(text).toContain('asyncgate_requests_total{operation="create_task",code="ok"} 1')
  expect(text).toContain('asyncgate_claim_duration_seconds_count{granted="no"} 1')
  expect(text).toContain('asyncgate_waiting_claims 5')
  expect(text).toContain('asyncgate_worker_heartbeat_age_seconds{worker_id="w1"} 6')
  expect(text).toContain('asyncgate_tasks{status="queued"} 4')
  expect(text).toContain('asyncgate_ready_oldest_age_seconds 2.5')
  expect(text).toContain('asyncgate_active_leases 3')
  expect(text).toContain('asyncgate_open_obligations 6')
})

test('every name begins with asyncgate_', async () => {
  const names = [...(await metricsAt().text()).matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1])
  expect(names.length).toBeGreaterThan(15)
  expect(names.filter((name) => !name?.startsWith('asyncgate_'))).toEqual([])
})

test('types beyond a hundred are counted together', async () => {
  const metrics = metricsAt()
  const tasksCreated = Array.from({ length: 150 }, (_, index) => ({ type: `type-${index}` }))
  metrics.onCommitted({ commandCount: 1, durationMs: 1, tasksCreated })
  expect(await metrics.text()).toContain('asyncgate_tasks_created_total{type="other"} 50')
})

test('workers beyond a hundred, and those long silent, are forgotten', async () => {
  const metrics = metricsAt(7_200_000)
  metrics.onWorkerSeen({ workerId: 'gone', at: 0 })
  for (let index = 0; index < 120; index += 1) metrics.onWorkerSeen({ workerId: `w${index}`, at: 7_200_000 })
  const text = await metrics.text()
  expect(text.match(/^asyncgate_worker_heartbeat_age_seconds\{/gm)).toHaveLength(100)
  expect(text).not.toContain('"gone"')
})

test('a store that cannot be read leaves the other figures', async () => {
  const collect = () => Promise.reject(new Error('database is down'))
  const metrics = createMetrics({ collect, waitingClaims: () => 1, now: () => 0 })
  const text = await metrics.text()
  expect(text).toContain('asyncgate_store_readable 0')
  expect(text).toContain('asyncgate_waiting_claims 1')
})
