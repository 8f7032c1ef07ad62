// Where the reaper looks for lost leases: it does not begin anew each time, and misses none all the same.
import { expect, test } from 'vitest'
import { createReaper } from '../src/service/reaper.ts'
import { createMemoryStore } from '../src/store/memory/index.ts'
import { createRig } from './store/rig.ts'

const MINUTE_MS = 60_000

function createScene() {
  const store = createMemoryStore()
  const rig = createRig(store)
  const starts: number[] = []
  const reaper = createReaper({
    store: {
      ...store,
      dueLeases: (now, limit, after = 0) => {
        starts.push(after)
        return store.dueLeases(now, limit, after)
      },
    },
    engine: { execute: (_tenantId, commands) => rig.run(commands) },
    clock: { now: () => rig.now(), after: () => () => {} },
    graceMs: 0,
    onRefused: (error) => expect.unreachable(error.message),
  })
  return { store, rig, starts, sweptLeases: async () => (await reaper.runOnce()).leases }
}

test('looks begin a minute before the last one that found nothing, and now and then with the first lease', async () => {
  const { rig, starts, sweptLeases } = createScene()
  const began = rig.now()
  for (let pass = 0; pass <= 100; pass += 1) {
    await sweptLeases()
    rig.pass(MINUTE_MS)
  }
  expect(starts.slice(0, 3)).toEqual([0, began - MINUTE_MS, began])
  expect(starts.indexOf(0, 1)).toBe(100)
})

test('leases are swept when they end, however many looks found nothing before', async () => {
  const { rig, sweptLeases } = createScene()
  for (let pass = 0; pass < 5; pass += 1) {
    expect(await sweptLeases()).toBe(0)
    rig.pass(10 * MINUTE_MS)
  }
  await rig.create()
  await rig.claim({ ttlSeconds: 10 })
  rig.pass(9_999)
  expect(await sweptLeases()).toBe(0)
  rig.pass(1)
  expect(await sweptLeases()).toBe(1)
})

test('a lease that was granted by a clock far behind is swept in the end', async () => {
  const { store, rig, sweptLeases } = createScene()
  rig.pass(60 * MINUTE_MS)
  await sweptLeases()
  const behind = createRig(store, { tenantId: rig.tenantId, seed: 7 })
  await behind.create()
  await behind.claim({ ttlSeconds: 10 })
  let swept = 0
  for (let pass = 0; pass < 100; pass += 1) swept += await sweptLeases()
  expect(swept).toBe(1)
})
