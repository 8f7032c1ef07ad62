// Capacity: tenant, concurrency key and worker bound how many leases there are at one time.
import { expect } from 'vitest'
import { iso } from '../../src/clock.ts'
import { verifies } from '../requirements.ts'
import { type Bench, onEveryStore } from './harness.ts'
import {
  BY_HAND,
  claim,
  claimedIds,
  claimOne,
  create,
  createId,
  ERROR,
  held,
  type Leased,
  loseLease,
  openTwo,
  task,
} from './scenes.ts'

/** Every way in which a lease can end. */
const ENDS: readonly (readonly [string, (bench: Bench, lease: Leased) => Promise<unknown>])[] = [
  ['completion', (bench, lease) => bench.call('complete', { ...held(lease), store_result: true })],
  ['final failure', (bench, lease) => bench.call('fail', { ...held(lease), error: ERROR, retryable: false })],
  ['failure to be retried', (bench, lease) => bench.call('fail', { ...held(lease), error: ERROR })],
  ['release', (bench, lease) => bench.call('releaseLease', held(lease))],
  ['cancel', (bench, lease) => bench.call('cancelTask', { task_id: lease.task_id })],
  ['expiry', (bench) => loseLease(bench)],
]

const keyed = (bench: Bench, fields: object = {}) => createId(bench, { concurrency_key: 'k', ...fields })

onEveryStore('capacity', (open, _kind, store, beside) => {
  verifies('LEASE-8', 'tasks with one key run one at a time', async () => {
    const bench = await open(BY_HAND)
    const ids = [await keyed(bench), await keyed(bench), await keyed(bench)]
    expect(await task(bench, ids[0]!)).toMatchObject({ concurrency_key: 'k', concurrency_limit: 1 })
    for (const id of ids) {
      const [lease, ...more] = await claim(bench, { max_tasks: 10 })
      expect([lease?.task_id, more]).toEqual([id, []])
      expect(await claim(bench, { max_tasks: 10 })).toEqual([])
      await bench.call('complete', { ...held(lease!), store_result: true })
    }
  })

  verifies('LEASE-8', 'a task may bring the limit of its key', async () => {
    const bench = await open(BY_HAND)
    for (let count = 0; count < 5; count++) await keyed(bench, { concurrency_limit: 3 })
    const leases = await claim(bench, { max_tasks: 10 })
    expect(leases).toHaveLength(3)
    await bench.call('complete', { ...held(leases[1]!), store_result: true })
    expect(await claim(bench, { max_tasks: 10 })).toHaveLength(1)
    expect(await claim(bench, { max_tasks: 10 })).toEqual([])
  })

  verifies('LEASE-8', 'keys do not limit each other, nor tasks without one', async () => {
    const bench = await open(BY_HAND)
    await keyed(bench)
    await keyed(bench)
    const other = await createId(bench, { concurrency_key: 'other' })
    const free = await createId(bench)
    const claimed = await claimedIds(bench, { max_tasks: 10 })
    expect(claimed).toHaveLength(3)
    expect(claimed).toEqual(expect.arrayContaining([other, free]))
  })

  verifies('LEASE-8', 'the same key in another tenant is another key', async () => {
    const [bench, neighbour] = [await open(BY_HAND), await open(BY_HAND)]
    await keyed(bench)
    await keyed(neighbour)
    expect(await claim(bench)).toHaveLength(1)
    expect(await claim(neighbour)).toHaveLength(1)
  })

  verifies('LEASE-8', 'of those that waited for a key the best comes first', async () => {
    const bench = await open(BY_HAND)
    await keyed(bench)
    const first = await claimOne(bench)
    const low = await keyed(bench)
    const high = await keyed(bench, { priority: 1 })
    expect(await claim(bench, { max_tasks: 10 })).toEqual([])
    await bench.call('complete', { ...held(first), store_result: true })
    const second = await claimOne(bench, { max_tasks: 10 })
    expect(second.task_id).toBe(high)
    await bench.call('complete', { ...held(second), store_result: true })
    expect(await claimedIds(bench)).toEqual([low])
  })

  verifies('LEASE-8', 'a slot is not lost on a worker that cannot take the next in line', async () => {
    const bench = await open(BY_HAND)
    await keyed(bench)
    const first = await claimOne(bench)
    await keyed(bench, { priority: 9, requirements: { capabilities: ['gpu'] } })
    const plain = await keyed(bench)
    expect(await claim(bench, { capabilities: ['gpu'], max_tasks: 10 })).toEqual([])
    await bench.call('complete', { ...held(first), store_result: true })
    expect(await claimedIds(bench)).toEqual([plain])
    expect(await claim(bench, { capabilities: ['gpu'] })).toEqual([])
  })

  for (const [name, end] of ENDS) {
    verifies('LEASE-8', `the slot of a key is free again after a ${name}`, async () => {
      const bench = await open(BY_HAND)
      await keyed(bench)
      const lease = await claimOne(bench)
      const next = await keyed(bench)
      expect(await claim(bench)).toEqual([])
      await end(bench, lease)
      const claimed = await claimedIds(bench, { worker_id: 'w-2', max_tasks: 10 })
      expect(claimed).toHaveLength(1)
      // After a release and an expiry the older task is there again, and goes first.
      expect([next, lease.task_id]).toContain(claimed[0])
    })
  }

  verifies(
    ['LEASE-8', 'TASK-4'],
    'the slot of a key is free again after a timeout and after a deadline',
    async () => {
      const bench = await open(BY_HAND)
      await keyed(bench, { timeout_seconds: 60, max_attempts: 1 })
      await claimOne(bench)
      await keyed(bench, { deadline_at: iso(bench.clock.now() + 120_000) })
      const last = await keyed(bench)
      await bench.clock.advance(60_000)
      await bench.gate.sweep()
      await claimOne(bench)
      await bench.clock.advance(60_000)
      await bench.gate.sweep()
      expect(await claimedIds(bench)).toEqual([last])
    },
  )

  verifies(
    ['LEASE-8', 'TASK-4'],
    'a slot that was offered to a task past its deadline goes to the next',
    async () => {
      const bench = await open(BY_HAND)
      await keyed(bench)
      const first = await claimOne(bench)
      await keyed(bench, { deadline_at: iso(bench.clock.now() + 60_000) })
      const last = await keyed(bench)
      expect(await claim(bench, { max_tasks: 10 })).toEqual([])
      await bench.call('complete', { ...held(first), store_result: true })
      await bench.clock.advance(60_000)
      expect(await claimedIds(bench)).toEqual([last])
    },
  )

  verifies(
    'LEASE-8',
    'a slot that was offered to a task that is then canceled goes to the next',
    async () => {
      const bench = await open(BY_HAND)
      await keyed(bench)
      const first = await claimOne(bench)
      const [second, third] = [await keyed(bench), await keyed(bench)]
      expect(await claim(bench, { max_tasks: 10 })).toEqual([])
      await bench.call('complete', { ...held(first), store_result: true })
      await bench.call('cancelTask', { task_id: second })
      expect(await claimedIds(bench, { max_tasks: 10 })).toEqual([third])
    },
  )

  verifies(
    ['LEASE-8', 'TASK-6'],
    'a task freed by its dependency waits for its key like any other',
    async () => {
      const bench = await open(BY_HAND)
      const on = await createId(bench, { type: 'first' })
      await keyed(bench)
      const dependent = await keyed(bench, { depends_on: [on] })
      const first = await claimOne(bench, { accept_types: ['first'] })
      const holder = await claimOne(bench)
      await bench.call('complete', { ...held(first), store_result: true })
      expect(await claim(bench)).toEqual([])
      await bench.call('complete', { ...held(holder), store_result: true })
      expect(await claimedIds(bench)).toEqual([dependent])
    },
  )

  verifies('LEASE-8', 'a limit without a key is refused', async () => {
    const bench = await open(BY_HAND)
    const refusal = await bench.refusal('createTask', { type: 'work', concurrency_limit: 2 })
    expect(refusal).toMatchObject({ code: 'invalid_input', details: { field: 'concurrency_limit' } })
  })

  verifies('LEASE-8', 'a worker holds no more than the capacity that it declares', async () => {
    const bench = await open(BY_HAND)
    for (let count = 0; count < 5; count++) await create(bench)
    const first = await claim(bench, { capacity: 2, max_tasks: 10 })
    expect(first).toHaveLength(2)
    expect(await claim(bench, { capacity: 2 })).toEqual([])
    expect(await claim(bench, { worker_id: 'w-2', capacity: 1, max_tasks: 10 })).toHaveLength(1)
    await bench.call('complete', { ...held(first[0]!), store_result: true })
    expect(await claim(bench, { capacity: 2, max_tasks: 10 })).toHaveLength(1)
  })

  verifies(
    'LEASE-8',
    'a capacity that shrinks below what is held gives nothing, and takes nothing',
    async () => {
      const bench = await open(BY_HAND)
      for (let count = 0; count < 5; count++) await create(bench)
      const leases = await claim(bench, { max_tasks: 3 })
      expect(await claim(bench, { capacity: 1 })).toEqual([])
      for (const lease of leases) await bench.call('renewLease', held(lease))
    },
  )

  for (const [name, end] of ENDS) {
    verifies('LEASE-8', `the capacity of a worker is free again after a ${name}`, async () => {
      const bench = await open(BY_HAND)
      await create(bench)
      const lease = await claimOne(bench, { capacity: 1 })
      await create(bench)
      expect(await claim(bench, { capacity: 1 })).toEqual([])
      await end(bench, lease)
      expect(await claim(bench, { capacity: 1, max_tasks: 10 })).toHaveLength(1)
    })
  }

  verifies('LEASE-8', 'a tenant has no more leases than the server allows it', async () => {
    const bench = await open({ ...BY_HAND, claim: { max_concurrent_leases: 3 } })
    for (let count = 0; count < 5; count++) await create(bench)
    const first = await claim(bench, { max_tasks: 2 })
    expect(await claim(bench, { worker_id: 'w-2', max_tasks: 10 })).toHaveLength(1)
    expect(await claim(bench, { worker_id: 'w-3' })).toEqual([])
    await bench.call('releaseLease', held(first[0]!))
    expect(await claim(bench, { worker_id: 'w-3', max_tasks: 10 })).toHaveLength(1)
  })

  verifies('LEASE-8', 'the leases of one tenant do not count for another', async () => {
    const config = { ...BY_HAND, claim: { max_concurrent_leases: 1 } }
    const [bench, neighbour] = [await open(config), await open(config)]
    await create(bench)
    await create(neighbour)
    expect(await claim(bench)).toHaveLength(1)
    expect(await claim(neighbour)).toHaveLength(1)
  })

  for (const [name, end] of ENDS) {
    verifies('LEASE-8', `the capacity of a tenant is free again after a ${name}`, async () => {
      const bench = await open({ ...BY_HAND, claim: { max_concurrent_leases: 1 } })
      await create(bench)
      const lease = await claimOne(bench)
      await create(bench)
      expect(await claim(bench)).toEqual([])
      await end(bench, lease)
      expect(await claim(bench, { max_tasks: 10 })).toHaveLength(1)
    })
  }

  verifies('LEASE-8', 'claims at once do not exceed any bound', async () => {
    const bench = await open({ ...BY_HAND, claim: { max_concurrent_leases: 7 } })
    for (let count = 0; count < 5; count++) await keyed(bench, { concurrency_limit: 2 })
    for (let count = 0; count < 20; count++) await create(bench)
    const grants = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        claim(bench, { worker_id: `w-${index % 5}`, capacity: 2, max_tasks: 3 }),
      ),
    )
    const leases = grants.flat()
    expect(leases).toHaveLength(7)
    const { tasks } = await bench.call('listTasks', { status: 'leased' })
    const byWorker = Map.groupBy(tasks, (found) => found.lease!.worker_id)
    expect(Math.max(...[...byWorker.values()].map((list) => list.length))).toBeLessThanOrEqual(2)
    expect(tasks.filter((found) => found.concurrency_key === 'k').length).toBeLessThanOrEqual(2)
  })

  verifies('LEASE-8', 'claims on two instances do not exceed any bound', async () => {
    const [one, other] = await openTwo(store(), await beside(), {
      ...BY_HAND,
      claim: { max_concurrent_leases: 9 },
    })
    for (let count = 0; count < 10; count++) await keyed(one, { concurrency_limit: 2, priority: 1 })
    for (let count = 0; count < 20; count++) await create(one)
    await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        claim(index % 2 === 0 ? one : other, { worker_id: `w-${index % 3}`, capacity: 4, max_tasks: 3 }),
      ),
    )
    const { tasks } = await one.call('listTasks', { status: 'leased' })
    const byWorker = Map.groupBy(tasks, (found) => found.lease!.worker_id)
    expect(tasks.length).toBeLessThanOrEqual(9)
    expect(tasks.length).toBeGreaterThan(0)
    expect(Math.max(...[...byWorker.values()].map((list) => list.length))).toBeLessThanOrEqual(4)
    expect(tasks.filter((found) => found.concurrency_key === 'k').length).toBeLessThanOrEqual(2)
  })
})
