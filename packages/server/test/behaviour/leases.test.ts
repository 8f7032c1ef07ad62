// Leases: who may speak for a task, for how long, and how it comes back.
import { expect } from 'vitest'
import { iso } from '../../src/clock.ts'
import { verifies } from '../requirements.ts'
import { type Bench, onEveryStore } from './harness.ts'
import {
  anomalies,
  BY_HAND,
  claim,
  claimedIds,
  claimOne,
  createId,
  ERROR,
  evidence,
  held,
  type Leased,
  leased,
  loseLease,
  receiptTypes,
  refusedWithoutTrace,
  task,
} from './scenes.ts'

const UNKNOWN = '01900000-0000-7000-8000-000000000000'
const inMs = (bench: Bench, ms: number) => iso(bench.clock.now() + ms)

/** Everything that needs a lease, with the fields that it takes besides. */
const OPERATIONS = [
  ['renewLease', {}],
  ['start', {}],
  ['reportProgress', { progress: { percent: 1 } }],
  ['complete', { result: 1, store_result: true }],
  ['fail', { error: ERROR }],
  ['releaseLease', {}],
] as const

/** Each is refused, says how the task stands, and changes nothing. */
async function expectLost(bench: Bench, holding: ReturnType<typeof held>, status: string): Promise<void> {
  for (const [key, fields] of OPERATIONS) {
    const refusal = await refusedWithoutTrace(bench, key, { ...holding, ...fields })
    expect(refusal).toMatchObject({
      code: 'lease_invalid_or_expired',
      status: 409,
      details: { task_status: status },
    })
  }
}

const renew = (bench: Bench, lease: Leased, extend_by_seconds?: number) =>
  bench.call('renewLease', {
    ...held(lease),
    ...(extend_by_seconds === undefined ? {} : { extend_by_seconds }),
  })

onEveryStore('leases', (open) => {
  verifies(['LEASE-4', 'OPS-5'], 'a lease that never was is refused', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    await expectLost(bench, held({ ...lease, lease_id: UNKNOWN }), 'leased')
  })

  verifies('LEASE-4', 'the lease of another task is refused', async () => {
    const bench = await open(BY_HAND)
    const [one, other] = [await leased(bench), await leased(bench)]
    await expectLost(bench, held({ ...one, lease_id: other.lease_id }), 'leased')
  })

  verifies('LEASE-4', 'another worker is refused, also with the right lease', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    await expectLost(bench, held(lease, 'w-2'), 'leased')
  })

  verifies('LEASE-4', 'a principal of another kind with the same id is another worker', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    const input = { ...held(lease), worker_kind: 'service' as const }
    expect((await refusedWithoutTrace(bench, 'renewLease', input)).code).toBe('lease_invalid_or_expired')
  })

  verifies('LEASE-4', 'a lease is alive up to its end, and dead from then on, swept or not', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    await bench.clock.advance(299_999)
    await bench.call('start', held(lease))
    await bench.clock.advance(1)
    await expectLost(bench, held(lease), 'running')
    await bench.gate.sweep()
    await expectLost(bench, held(lease), 'queued')
  })

  verifies(
    ['LEASE-4', 'GUAR-2'],
    'a late completion after expiry is refused and leaves no receipt',
    async () => {
      const bench = await open(BY_HAND)
      const lease = await leased(bench)
      await loseLease(bench)
      const refusal = await refusedWithoutTrace(bench, 'complete', { ...held(lease), store_result: true })
      expect(refusal.code).toBe('lease_invalid_or_expired')
      expect(await receiptTypes(bench, lease.task_id)).toEqual([
        'task.assigned',
        'task.accepted',
        'lease.expired',
      ])
    },
  )

  verifies(['LEASE-4', 'GUAR-2'], 'a zombie cannot speak for the task that its successor holds', async () => {
    const bench = await open(BY_HAND)
    const zombie = await leased(bench)
    await loseLease(bench)
    const successor = await claimOne(bench, { worker_id: 'w-2' })
    expect(successor.fence).toBe(zombie.fence + 1)
    await expectLost(bench, held(zombie), 'leased')
    await bench.call('complete', { ...held(successor, 'w-2'), result: 'real', store_result: true })
    await expectLost(bench, held(zombie), 'succeeded')
    expect((await task(bench, zombie.task_id)).result?.result).toBe('real')
    const types = await receiptTypes(bench, zombie.task_id)
    expect(types.filter((type) => type === 'task.completed')).toHaveLength(1)
    expect(types.filter((type) => type === 'task.result_ready')).toHaveLength(1)
  })

  verifies(
    'GUAR-2',
    'the same worker claiming its lost task again holds it by the new lease alone',
    async () => {
      const bench = await open(BY_HAND)
      const before = await leased(bench)
      await loseLease(bench)
      const after = await claimOne(bench)
      await expectLost(bench, held(before), 'leased')
      await bench.call('complete', { ...held(after), store_result: true })
    },
  )

  verifies(['LEASE-4', 'LEASE-10'], 'a worker learns of a cancel with its next word', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    await bench.call('cancelTask', { task_id: lease.task_id })
    await expectLost(bench, held(lease), 'canceled')
  })

  verifies(['LEASE-4', 'OPS-5'], 'a lease operation on an unknown task is not_found', async () => {
    const bench = await open(BY_HAND)
    const neighbour = await open(BY_HAND)
    const lease = await leased(bench)
    const foreign = await leased(neighbour)
    for (const [key, fields] of OPERATIONS) {
      for (const task_id of [UNKNOWN, foreign.task_id]) {
        const refusal = await bench.refusal(key, { ...held({ ...lease, task_id }), ...fields })
        expect(refusal).toMatchObject({ code: 'not_found', status: 404 })
      }
    }
  })

  verifies(['LEASE-5', 'LEASE-10'], 'a renewal counts from now, by the length of that lease', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench, {}, { lease_ttl_seconds: 60 })
    await bench.clock.advance(45_000)
    expect(await renew(bench, lease)).toEqual({ ok: true, expires_at: inMs(bench, 60_000) })
    await bench.clock.advance(59_999)
    expect(await renew(bench, lease)).toEqual({ ok: true, expires_at: inMs(bench, 60_000) })
    expect((await task(bench, lease.task_id)).lease?.expires_at).toBe(inMs(bench, 60_000))
  })

  verifies('LEASE-5', 'a renewal may ask for its own length, between 10 and 1800 s', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    const lengths: number[] = []
    for (const asked of [0, 10, 42, 1_800, 1_801]) {
      const { expires_at } = await renew(bench, lease, asked)
      lengths.push((Date.parse(expires_at) - bench.clock.now()) / 1_000)
    }
    expect(lengths).toEqual([10, 10, 42, 1_800, 1_800])
  })

  verifies('LEASE-5', 'a renewal by another length leaves the length of the lease as it was', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench, {}, { lease_ttl_seconds: 60 })
    await renew(bench, lease, 1_000)
    expect((await renew(bench, lease)).expires_at).toBe(inMs(bench, 60_000))
  })

  verifies('LEASE-5', 'a lease that was shortened ends early', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    await renew(bench, lease, 10)
    await bench.clock.advance(10_000)
    await bench.gate.sweep()
    expect((await task(bench, lease.task_id)).status).toBe('queued')
  })

  verifies('LEASE-5', 'a lease that is renewed outlives many sweeps', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench, {}, { lease_ttl_seconds: 30 })
    for (let count = 0; count < 10; count++) {
      await bench.clock.advance(20_000)
      await renew(bench, lease)
      await bench.gate.sweep()
    }
    expect((await task(bench, lease.task_id)).status).toBe('leased')
    await bench.clock.advance(30_000)
    await bench.gate.sweep()
    expect(await task(bench, lease.task_id)).toMatchObject({ status: 'queued', expiries: 1 })
  })

  verifies('LEASE-5', 'the 11th renewal of a lease raises one anomaly, and none is refused', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    for (let count = 0; count < 10; count++) await renew(bench, lease)
    expect(await anomalies(bench, lease.task_id)).toEqual([])
    expect(await renew(bench, lease)).toMatchObject({ ok: true })
    expect(await anomalies(bench, lease.task_id)).toMatchObject([{ kind: 'excessive_renewals' }])
    for (let count = 0; count < 10; count++) expect(await renew(bench, lease)).toMatchObject({ ok: true })
    expect(await anomalies(bench, lease.task_id)).toHaveLength(1)
    expect((await task(bench, lease.task_id)).status).toBe('leased')
  })

  verifies('LEASE-5', 'the renewals of each lease are counted apart', async () => {
    const bench = await open(BY_HAND)
    const first = await leased(bench)
    for (let count = 0; count < 10; count++) await renew(bench, first)
    await bench.call('releaseLease', held(first))
    const second = await claimOne(bench)
    for (let count = 0; count < 10; count++) await renew(bench, second)
    expect(await anomalies(bench, first.task_id)).toEqual([])
  })

  verifies(
    'LEASE-5',
    'a server may limit renewals; beyond the limit they are refused and the lease stays',
    async () => {
      const bench = await open({ lease: { ...BY_HAND.lease, max_renewals: 2 } })
      const lease = await leased(bench)
      await renew(bench, lease)
      await bench.clock.advance(1_000)
      const { expires_at } = await renew(bench, lease)
      await bench.clock.advance(1_000)
      const refusal = await refusedWithoutTrace(bench, 'renewLease', held(lease))
      expect(refusal).toMatchObject({ code: 'lease_renewal_limit', status: 409 })
      expect((await task(bench, lease.task_id)).lease?.expires_at).toBe(expires_at)
      await bench.call('complete', { ...held(lease), store_result: true })
    },
  )

  verifies('LEASE-5', 'a server may limit the life of a lease; no renewal goes beyond', async () => {
    const bench = await open({ lease: { ...BY_HAND.lease, max_lifetime_seconds: 500 } })
    const lease = await leased(bench)
    const endsAt = inMs(bench, 500_000)
    await bench.clock.advance(100_000)
    expect((await renew(bench, lease)).expires_at).toBe(inMs(bench, 300_000))
    await bench.clock.advance(200_000)
    expect((await renew(bench, lease)).expires_at).toBe(endsAt)
    const refusal = await refusedWithoutTrace(bench, 'renewLease', held(lease))
    expect(refusal).toMatchObject({ code: 'lease_renewal_limit', status: 409 })
    await bench.clock.advance(199_999)
    await bench.call('complete', { ...held(lease), store_result: true })
  })

  verifies('LEASE-5', 'a limit on the life of a lease holds from its grant on', async () => {
    const bench = await open({ lease: { ...BY_HAND.lease, max_lifetime_seconds: 120 } })
    expect((await leased(bench)).expires_at).toBe(inMs(bench, 120_000))
  })

  verifies('LEASE-5', 'without limits a lease may be renewed as long as its worker likes', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    for (let count = 0; count < 50; count++) {
      await bench.clock.advance(250_000)
      await renew(bench, lease)
    }
    expect((await task(bench, lease.task_id)).status).toBe('leased')
  })

  verifies('LEASE-6', 'a released task is queued at once, and nothing is counted', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    await bench.call('start', held(lease))
    await bench.clock.advance(1_000)
    const reply = await bench.call('releaseLease', { ...held(lease), reason: 'no room' })
    expect(reply).toEqual({ ok: true, status: 'queued' })
    expect(await task(bench, lease.task_id)).toMatchObject({
      status: 'queued',
      attempt: 0,
      expiries: 0,
      lease: null,
      next_eligible_at: inMs(bench, 0),
    })
    expect(await claimedIds(bench, { worker_id: 'w-2' })).toEqual([lease.task_id])
  })

  verifies(
    ['LEASE-6', 'OPS-5'],
    'releasing again returns the first answer, also when another has the task',
    async () => {
      const bench = await open(BY_HAND)
      const lease = await leased(bench)
      const first = await bench.call('releaseLease', held(lease))
      await claimOne(bench, { worker_id: 'w-2' })
      const before = await evidence(bench, lease.task_id)
      expect(await bench.call('releaseLease', held(lease))).toEqual(first)
      expect(await evidence(bench, lease.task_id)).toEqual(before)
    },
  )

  verifies('LEASE-10', 'progress answers with the end of the lease, and does not move it', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    await bench.clock.advance(1_000)
    const reply = await bench.call('reportProgress', { ...held(lease), progress: { percent: 50 } })
    expect(reply).toEqual({ ok: true, expires_at: lease.expires_at })
    expect((await task(bench, lease.task_id)).lease?.expires_at).toBe(lease.expires_at)
    expect((await bench.call('getProgress', { task_id: lease.task_id })).progress).toEqual([
      { progress: { percent: 50 }, worker_id: 'w-1', fence: 1, reported_at: inMs(bench, 0) },
    ])
  })

  verifies('STATE-5', 'the 4th lost lease of a task raises one anomaly', async () => {
    const bench = await open(BY_HAND)
    const taskId = await createId(bench)
    const raised: number[] = []
    for (let count = 0; count < 6; count++) {
      await claimOne(bench, { lease_ttl_seconds: 10 })
      await loseLease(bench, 10_000)
      raised.push((await anomalies(bench, taskId)).length)
    }
    expect(raised).toEqual([0, 0, 0, 1, 1, 1])
    expect(await anomalies(bench, taskId)).toMatchObject([{ kind: 'repeated_lease_expiry' }])
    expect(await claim(bench)).toHaveLength(1)
  })
})
