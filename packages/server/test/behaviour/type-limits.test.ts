// max_concurrent: how many leases the tasks of a type have at one time, on any number of servers.
import { expect, test } from 'vitest'
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
  openTwo,
  task,
} from './scenes.ts'

const limit = (bench: Bench, max_concurrent?: number) =>
  bench.call('putTaskType', { task_type: 'work', ...(max_concurrent !== undefined && { max_concurrent }) })

const many = async (bench: Bench, count: number) => {
  const tasks = Array.from({ length: count }, () => ({ type: 'work' }))
  await bench.call('createTasks', { tasks })
}

onEveryStore('limits of types', (open, _kind, store, beside) => {
  verifies(['LEASE-8', 'TYPE-1'], 'a type bounds the leases of its tasks, and of no others', async () => {
    const bench = await open(BY_HAND)
    await limit(bench, 2)
    await many(bench, 5)
    const other = await createId(bench, { type: 'other' })
    const leases = await claim(bench, { accept_types: ['work'], max_tasks: 10 })
    expect(leases).toHaveLength(2)
    expect(await claimedIds(bench, { max_tasks: 10 })).toEqual([other])
    await bench.call('complete', { ...held(leases[0]!), store_result: true })
    expect(await claim(bench, { max_tasks: 10 })).toHaveLength(1)
    await bench.call('releaseLease', held(leases[1]!))
    expect(await claim(bench, { max_tasks: 10 })).toHaveLength(1)
    expect(await claim(bench, { max_tasks: 10 })).toEqual([])
  })

  verifies(
    'LEASE-8',
    'a limit that is raised, lowered or lifted holds for the tasks that wait already',
    async () => {
      const bench = await open(BY_HAND)
      await limit(bench, 1)
      await many(bench, 12)
      const leases = await claim(bench, { max_tasks: 20 })
      expect(leases).toHaveLength(1)
      await limit(bench, 4)
      leases.push(...(await claim(bench, { max_tasks: 20 })))
      expect(leases).toHaveLength(4)
      await limit(bench, 2)
      for (const lease of leases.splice(0, 2)) {
        await bench.call('complete', { ...held(lease), store_result: true })
        expect(await claim(bench, { max_tasks: 20 })).toEqual([])
      }
      await bench.call('complete', { ...held(leases[0]!), store_result: true })
      expect(await claim(bench, { max_tasks: 20 })).toHaveLength(1)
      await limit(bench)
      expect(await claim(bench, { max_tasks: 20 })).toHaveLength(7)
    },
  )

  verifies('LEASE-8', 'without its registration a type has no limit', async () => {
    const bench = await open(BY_HAND)
    await limit(bench, 1)
    await many(bench, 3)
    expect(await claim(bench, { max_tasks: 10 })).toHaveLength(1)
    await bench.call('deleteTaskType', { task_type: 'work' })
    expect(await claim(bench, { max_tasks: 10 })).toHaveLength(2)
  })

  verifies('LEASE-8', 'a claim that waits is given what a raised limit lets through', async () => {
    const [one, other] = await openTwo(store(), await beside(), BY_HAND)
    await limit(one, 1)
    await many(one, 2)
    await claimOne(one)
    const waiting = claim(one, { wait_seconds: 30 })
    await limit(other, 2)
    await one.clock.advance(5_000)
    expect(await waiting).toHaveLength(1)
  })

  verifies('LEASE-8', 'two servers that claim at once stay within the limit of a type together', async () => {
    const benches = await openTwo(store(), await beside(), BY_HAND)
    await limit(benches[0], 3)
    await many(benches[0], 30)
    const active: Awaited<ReturnType<typeof claim>> = []
    let done = 0
    for (let round = 0; done < 30; round += 1) {
      expect(round).toBeLessThan(300)
      const rounds = benches.flatMap((bench) => [1, 2, 3].map(() => claim(bench, { max_tasks: 5 })))
      active.push(...(await Promise.all(rounds)).flat())
      expect(active.length).toBeLessThanOrEqual(3)
      const [lease] = active.splice(0, 1)
      if (lease === undefined) continue
      await benches[done % 2]!.call('complete', { ...held(lease), store_result: true })
      done += 1
    }
  })

  test('the limit of the type is no key of the task, and leaves no room for one', async () => {
    const bench = await open(BY_HAND)
    await limit(bench, 1)
    expect(await task(bench, await createId(bench))).toMatchObject({
      concurrency_key: null,
      concurrency_limit: null,
    })
    const refusal = await bench.refusal('createTask', { type: 'work', concurrency_key: 'k' })
    expect(refusal.body()).toMatchObject({ error: 'invalid_input', field: 'concurrency_key' })
    const usurped = await bench.refusal('createTask', { type: 'x', concurrency_key: 'asyncgate:type:work' })
    expect(usurped.body()).toMatchObject({ error: 'invalid_input', field: 'concurrency_key' })
  })

  test('explain names the limit of the type', async () => {
    const bench = await open(BY_HAND)
    await limit(bench, 1)
    const [held_, waiting] = [await createId(bench), await createId(bench)]
    expect(await claimedIds(bench, { max_tasks: 5 })).toEqual([held_])
    const { claimable, reasons } = await bench.call('explainTask', { task_id: waiting })
    expect([claimable, reasons]).toEqual([
      false,
      [expect.objectContaining({ reason: 'type_limit', type: 'work', limit: 1, active: 1 })],
    ])
  })

  test('a redriven task counts under the limit that its type has by now', async () => {
    const bench = await open(BY_HAND)
    const { task_id } = await create(bench, { max_attempts: 1 })
    await bench.call('fail', { ...held(await claimOne(bench)), error: ERROR })
    await limit(bench, 1)
    await create(bench)
    await bench.call('retryTask', { task_id })
    expect(await claim(bench, { max_tasks: 5 })).toHaveLength(1)
    expect(await claim(bench, { max_tasks: 5 })).toEqual([])
  })
})
