// LIM-2: what a tenant may have at one time, and that nobody gets more of it by asking often, or in two places at once.
import { expect } from 'vitest'
import { iso } from '../../src/clock.ts'
import { jsonBytes } from '../../src/engine/ledger.ts'
import { isTerminal } from '../../src/engine/model.ts'
import { verifies } from '../requirements.ts'
import { wholeState } from '../whole-state.ts'
import { type Bench, onEveryStore } from './harness.ts'
import {
  BY_HAND,
  claim,
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

const at = (max_active: number) => ({ ...BY_HAND, task: { max_active } })

async function outcomeOf(creation: Promise<unknown>): Promise<string> {
  return creation.then(
    () => 'created',
    (error: { code: string }) => error.code,
  )
}

function outcomeOfItem(item: object): string {
  return 'error' in item ? (item.error as string) : 'created' // a code, where there is one
}

function tally(outcomes: readonly string[]): Record<string, number> {
  return Object.fromEntries(Object.entries(Object.groupBy(outcomes, String)).map(([k, v]) => [k, v!.length]))
}

/** Which ends of a lease end the task as well. */
const ENDS: readonly (readonly [string, boolean, (bench: Bench, lease: Leased) => Promise<unknown>])[] = [
  ['completion', true, (bench, lease) => bench.call('complete', { ...held(lease), store_result: true })],
  [
    'final failure',
    true,
    (bench, lease) => bench.call('fail', { ...held(lease), error: ERROR, retryable: false }),
  ],
  ['cancel', true, (bench, lease) => bench.call('cancelTask', { task_id: lease.task_id })],
  ['failure to be retried', false, (bench, lease) => bench.call('fail', { ...held(lease), error: ERROR })],
  ['release', false, (bench, lease) => bench.call('releaseLease', held(lease))],
  ['expiry', false, (bench) => loseLease(bench)],
]

onEveryStore('quotas', (open, _kind, store, beside) => {
  /** Each has created a task: one that must first connect to its database would come too late for any race. */
  async function openWarm(config: ReturnType<typeof at>): Promise<[Bench, Bench]> {
    const benches = await openTwo(store(), await beside(), config)
    for (const bench of benches) await create(bench)
    return benches
  }

  verifies('LIM-2', 'beyond the quota a creation is refused, and nothing is stored', async () => {
    const bench = await open(at(2))
    for (const key of ['a', 'b']) await create(bench, { idempotency_key: key })
    const refusal = await bench.refusal('createTask', { type: 'work' })
    expect(refusal).toMatchObject({
      code: 'quota_exceeded',
      details: { quota: 'active_tasks', limit: 2 },
      message: expect.stringContaining('2 active tasks'),
    })
    expect((await bench.call('listTasks', {})).tasks).toHaveLength(2)
    expect(await bench.receipts()).toHaveLength(2)
    // What was created before is found again.
    expect(await create(bench, { idempotency_key: 'a' })).toMatchObject({ is_duplicate: true })
  })

  verifies('LIM-2', 'of a batch as many are created as fit', async () => {
    const bench = await open(at(3))
    const { tasks } = await bench.call('createTasks', {
      tasks: Array.from({ length: 5 }, () => ({ type: 'work' })),
    })
    expect(tasks.map(outcomeOfItem)).toEqual([
      ...['created', 'created', 'created'],
      ...['quota_exceeded', 'quota_exceeded'],
    ])
  })

  for (const [name, isEnd, end] of ENDS) {
    verifies('LIM-2', `a ${name} ${isEnd ? 'makes room for another task' : 'makes no room'}`, async () => {
      const bench = await open(at(1))
      await create(bench, { max_attempts: 3 })
      const lease = await claimOne(bench)
      await end(bench, lease)
      expect(await outcomeOf(create(bench))).toBe(isEnd ? 'created' : 'quota_exceeded')
    })
  }

  verifies('LIM-2', 'a deadline, a failed dependency and a poisoned task make room as well', async () => {
    const bench = await open(at(3))
    await create(bench, { deadline_at: iso(bench.clock.now() + 60_000) })
    const on = await createId(bench, { type: 'first', max_expiries: 1 })
    await create(bench, { type: 'last', depends_on: [on] })
    expect(await outcomeOf(create(bench))).toBe('quota_exceeded')
    await bench.clock.advance(60_000)
    await bench.gate.sweep()
    for (const _ of [1, 2]) {
      await claimOne(bench, { accept_types: ['first'] })
      await loseLease(bench)
    }
    expect((await task(bench, on)).status).toBe('failed')
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => outcomeOf(create(bench))))
    expect(tally(outcomes)).toEqual({ created: 3, quota_exceeded: 2 })
  })

  verifies('LIM-2', 'of 100 creations at once at one below the quota exactly one is accepted', async () => {
    const [one, other] = await openWarm(at(10))
    for (let count = 2; count < 9; count++) await create(one)
    const creations = Array.from({ length: 100 }, (_, index) =>
      outcomeOf(create(index % 2 === 0 ? one : other)),
    )
    expect(tally(await Promise.all(creations))).toEqual({ created: 1, quota_exceeded: 99 })
  })

  verifies('LIM-2', 'instances that never saw the quota near fill it exactly', async () => {
    const [one, other] = await openWarm(at(40))
    const batch = (bench: Bench) =>
      bench
        .call('createTasks', { tasks: Array.from({ length: 30 }, () => ({ type: 'work' })) })
        .then(({ tasks }) => tasks.map(outcomeOfItem))
    const outcomes = await Promise.all([batch(one), batch(other), batch(one), batch(other)])
    expect(tally(outcomes.flat())).toEqual({ created: 38, quota_exceeded: 82 })
  })

  verifies('LIM-2', 'at the quota, as fast as tasks end, as many come, and never more', async () => {
    const [one, other] = await openWarm(at(5))
    for (let count = 2; count < 5; count++) await create(one)
    for (let round = 0; round < 5; round++) {
      const leases = await claim(one, { max_tasks: 2 })
      await Promise.all([
        ...leases.map((lease) => one.call('complete', { ...held(lease), store_result: true })),
        ...Array.from({ length: 12 }, (_, index) => outcomeOf(create(index % 2 === 0 ? one : other))),
      ])
      const { activeTasks } = await store().readUsage(one.tenantId)
      expect(activeTasks).toBeLessThanOrEqual(5)
      for (let missing = activeTasks; missing < 5; missing++) await create(other)
    }
    expect(await outcomeOf(create(one))).toBe('quota_exceeded')
  })

  verifies('LIM-2', 'a quota that is lowered below what there is takes nothing away', async () => {
    const [bench, lowered] = await openTwo(store(), await beside(), at(0))
    for (let count = 0; count < 3; count++) await create(bench)
    await bench.call('createTenant', { tenant_id: bench.tenantId }, { caller: { role: 'operator' } })
    await lowered.call(
      'limitTenant',
      { tenant_id: bench.tenantId, tier: 'enterprise', active_tasks: 1 },
      { caller: { role: 'operator' } },
    )
    expect(await outcomeOf(create(lowered))).toBe('quota_exceeded')
    const leases = await claim(lowered, { max_tasks: 3 })
    for (const lease of leases) await lowered.call('complete', { ...held(lease), store_result: true })
    expect(await outcomeOf(create(lowered))).toBe('created')
  })

  verifies('LIM-2', 'what is counted is what there is', async () => {
    const bench = await open(at(0))
    const tenantId = bench.tenantId
    for (let count = 0; count < 6; count++) await create(bench, { payload: { text: 'ü'.repeat(count) } })
    const [first, second, third] = await claim(bench, { max_tasks: 3 })
    await bench.call('complete', { ...held(first!), result: { text: '☃' }, store_result: true })
    await bench.call('fail', { ...held(second!), error: ERROR, retryable: false })
    await bench.call('cancelTask', { task_id: third!.task_id })
    await bench.call('retryTask', { task_id: second!.task_id })
    const { tasks, receipts } = await wholeState(store(), tenantId)
    expect(await store().readUsage(tenantId)).toEqual({
      activeTasks: tasks.filter(({ state }) => !isTerminal(state.status)).length,
      receiptBytes: receipts.reduce((sum, { receipt }) => sum + jsonBytes(receipt.body), 0),
    })
    expect(await store().readUsage('nobody')).toEqual({ activeTasks: 0, receiptBytes: 0 })
  })

  verifies(
    ['LIM-2', 'LIM-1'],
    'a tenant has what its tier and its own figures say, and no other has it',
    async () => {
      const [bench, neighbour] = [await open(BY_HAND), await open(BY_HAND)]
      const operator = { caller: { role: 'operator' as const } }
      const { tenantId } = bench
      const made = await bench.call('createTenant', { tenant_id: tenantId, tier: 'free' }, operator)
      expect(made).toMatchObject({
        tier: 'free',
        limits: { calls_per_hour: 1_000, tasks_per_hour: 100, concurrent_leases: 10, receipt_bytes: 1e9 },
      })
      const limited = await bench.call(
        'limitTenant',
        { tenant_id: tenantId, tier: 'paid', active_tasks: 4, concurrent_leases: 2, payload_bytes: 20 },
        operator,
      )
      expect(limited).toMatchObject({
        tier: 'paid',
        limits: { calls_per_hour: 100_000, tasks_per_hour: 10_000, active_tasks: 4, concurrent_leases: 2 },
      })
      const outcomes = await Promise.all(Array.from({ length: 6 }, () => outcomeOf(create(bench))))
      expect(tally(outcomes)).toEqual({ created: 4, quota_exceeded: 2 })
      const large = { type: 'work', payload: { text: 'x'.repeat(20) } }
      expect(await bench.refusal('createTask', large)).toMatchObject({
        code: 'payload_too_large',
        details: { limit: 20 },
      })
      expect(await claim(bench, { max_tasks: 10 })).toHaveLength(2)
      expect(await claim(bench, { max_tasks: 10 })).toEqual([])
      for (let count = 0; count < 6; count++) await neighbour.call('createTask', large)
      expect(await claim(neighbour, { max_tasks: 10 })).toHaveLength(6)
    },
  )

  verifies('LIM-2', 'receipts beyond their quota are kept, and the configuration warns', async () => {
    const bench = await open(BY_HAND)
    const operator = { caller: { role: 'operator' as const } }
    const { tenantId } = bench
    await bench.call('createTenant', { tenant_id: tenantId }, operator)
    await bench.call('limitTenant', { tenant_id: tenantId, tier: 'free', receipt_bytes: 2_000 }, operator)
    expect((await bench.call('getConfig', {})).warnings).toEqual([])
    while ((await store().readUsage(tenantId)).receiptBytes < 1_800) await create(bench)
    const { warnings } = await bench.call('getConfig', {})
    expect(warnings).toEqual([expect.stringMatching(/receipts .* 2000 are in its tier/)])
    for (let count = 0; count < 3; count++) await create(bench)
  })
})
