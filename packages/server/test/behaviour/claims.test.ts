// Claims: which tasks a worker is given, in what order, and what a claim may ask for.
import { expect } from 'vitest'
import { iso } from '../../src/clock.ts'
import { verifies } from '../requirements.ts'
import { type Bench, onEveryStore } from './harness.ts'
import {
  asAgent,
  BY_HAND,
  claim,
  claimedIds,
  claimOne,
  create,
  createId,
  ERROR,
  held,
  leased,
  loseLease,
  openTwo,
  receiptTypes,
  task,
} from './scenes.ts'

async function createMany(bench: Bench, count: number, fields: object = {}): Promise<string[]> {
  const items = Array.from({ length: count }, () => ({ type: 'work', ...fields }))
  const { tasks } = await bench.call('createTasks', { tasks: items })
  return tasks.map((reply) => (reply as { task_id: string }).task_id)
}

const HALF_A_MIB = 'x'.repeat(524_000)

const requiring = (...capabilities: string[]) => ({ requirements: { capabilities } })

onEveryStore('claims', (open, _kind, store, beside) => {
  verifies('LEASE-3', 'a claim gives no more than one reply can carry; the next claim goes on', async () => {
    const bench = await open(BY_HAND)
    await createMany(bench, 20, { payload: { text: HALF_A_MIB } })
    await createMany(bench, 20, { payload: { text: HALF_A_MIB } })
    expect(await claim(bench, { max_tasks: 1_000 })).toHaveLength(33)
    expect(await claim(bench, { max_tasks: 1_000 })).toHaveLength(7)
  })

  verifies('LEASE-1', '50 claims at once give each task to one worker', async () => {
    const bench = await open(BY_HAND)
    const ids = await createMany(bench, 30)
    const grants = await Promise.all(
      Array.from({ length: 50 }, (_, index) => claimedIds(bench, { worker_id: `w-${index}` })),
    )
    expect(grants.flat().toSorted()).toEqual(ids.toSorted())
  })

  verifies('LEASE-1', 'claims on two instances give each task to one worker', async () => {
    const [one, other] = await openTwo(store(), await beside(), BY_HAND)
    const ids = await createMany(one, 40)
    const grants = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        claimedIds(index % 2 === 0 ? one : other, { worker_id: `w-${index}` }),
      ),
    )
    // A row that another instance holds at that moment is passed over, so somebody may have to ask again.
    const rest = await claimedIds(one, { worker_id: 'last', max_tasks: 1_000 })
    expect([...grants.flat(), ...rest].toSorted()).toEqual(ids.toSorted())
    for (const id of ids) expect(await receiptTypes(one, id)).toEqual(['task.assigned', 'task.accepted'])
  })

  verifies('LEASE-1', 'a leased task is given to nobody else', async () => {
    const bench = await open(BY_HAND)
    await leased(bench)
    expect(await claim(bench, { worker_id: 'other' })).toEqual([])
    expect(await claim(bench)).toEqual([])
  })

  verifies(
    ['LEASE-1', 'GUAR-2'],
    'the fence grows by one with each grant, however the lease before ended',
    async () => {
      const bench = await open(BY_HAND)
      const taskId = await createId(bench)
      const first = await claimOne(bench)
      await bench.call('releaseLease', held(first))
      const second = await claimOne(bench)
      await bench.call('fail', { ...held(second), error: ERROR, retry_after_seconds: 0 })
      const third = await claimOne(bench)
      await loseLease(bench)
      const fourth = await claimOne(bench)
      expect([first, second, third, fourth].map((lease) => lease.fence)).toEqual([1, 2, 3, 4])
      expect(new Set([first, second, third, fourth].map((lease) => lease.lease_id)).size).toBe(4)
      expect(await task(bench, taskId)).toMatchObject({ fence: 4, lease: { fence: 4 } })
    },
  )

  verifies('LEASE-2', 'a claim without types takes any', async () => {
    const bench = await open(BY_HAND)
    const ids = [await createId(bench, { type: 'a' }), await createId(bench, { type: 'b' })]
    expect(await claimedIds(bench, { max_tasks: 10 })).toEqual(ids)
  })

  verifies('LEASE-2', 'a claim takes only the types that it accepts', async () => {
    const bench = await open(BY_HAND)
    await createId(bench, { type: 'a' })
    const wanted = [await createId(bench, { type: 'b' }), await createId(bench, { type: 'c' })]
    const claimed = await claimedIds(bench, { max_tasks: 10, accept_types: ['c', 'b', 'nothing'] })
    expect(claimed).toEqual(wanted)
  })

  verifies('LEASE-2', 'types are told apart by case', async () => {
    const bench = await open(BY_HAND)
    await createId(bench, { type: 'Work' })
    expect(await claim(bench, { accept_types: ['work'] })).toEqual([])
  })

  verifies('LEASE-2', 'a worker is given only what its capabilities cover', async () => {
    const bench = await open(BY_HAND)
    const free = await createId(bench)
    const gpu = await createId(bench, requiring('gpu'))
    const both = await createId(bench, requiring('gpu', 'eu'))
    await createId(bench, requiring('tpu'))
    expect(await claimedIds(bench, { max_tasks: 10 })).toEqual([free])
    expect(await claimedIds(bench, { max_tasks: 10, capabilities: ['gpu'] })).toEqual([gpu])
    expect(await claimedIds(bench, { max_tasks: 10, capabilities: ['eu', 'other', 'gpu'] })).toEqual([both])
  })

  verifies('LEASE-2', 'capabilities are compared whatever their case', async () => {
    const bench = await open(BY_HAND)
    const ids = [await createId(bench, requiring('GPU')), await createId(bench, requiring('gpu', 'Gpu'))]
    expect(await claimedIds(bench, { max_tasks: 10, capabilities: ['gPu'] })).toEqual(ids)
  })

  verifies('LEASE-2', 'tags have no say in claims', async () => {
    const bench = await open(BY_HAND)
    const taskId = await createId(bench, { requirements: { tags: ['gpu'] } })
    expect(await claimedIds(bench)).toEqual([taskId])
  })

  verifies('LEASE-2', 'the highest priority goes first, then the oldest', async () => {
    const bench = await open(BY_HAND)
    const low = await createId(bench, { priority: -5 })
    const old = await createId(bench)
    await bench.clock.advance(10)
    const young = await createId(bench)
    const high = await createId(bench, { priority: 10 })
    const claimed: string[] = []
    for (let count = 0; count < 4; count++) claimed.push(...(await claimedIds(bench)))
    expect(claimed).toEqual([high, old, young, low])
  })

  verifies('LEASE-2', 'priority and age count across types and capabilities', async () => {
    const bench = await open(BY_HAND)
    const ids = [
      await createId(bench, { type: 'a', priority: 3 }),
      await createId(bench, { type: 'b', priority: 2, ...requiring('x') }),
      await createId(bench, { type: 'a', priority: 1, ...requiring('y') }),
      await createId(bench, { type: 'c' }),
      await createId(bench, { type: 'a' }),
    ]
    expect(await claimedIds(bench, { max_tasks: 10, capabilities: ['x', 'y'] })).toEqual(ids)
  })

  verifies('LEASE-2', 'a task that comes back is as old as it ever was', async () => {
    const bench = await open(BY_HAND)
    const old = await leased(bench)
    await bench.clock.advance(1_000)
    const young = await createId(bench)
    await bench.call('releaseLease', held(old))
    expect(await claimedIds(bench, { max_tasks: 10 })).toEqual([old.task_id, young])
  })

  verifies('LEASE-2', 'a task that fits is never hidden behind ones that do not', async () => {
    const bench = await open(BY_HAND)
    await createMany(bench, 500, { priority: 9, ...requiring('rare') })
    await createMany(bench, 500, { priority: 9, type: 'other' })
    await createMany(bench, 100, { priority: 9, delay_seconds: 60 })
    const taskId = await createId(bench, requiring('gpu'))
    expect(await claimedIds(bench, { accept_types: ['work'], capabilities: ['gpu'] })).toEqual([taskId])
  })

  verifies(
    ['LEASE-2', 'LEASE-8'],
    'a task that fits is never hidden behind ones that have no room',
    async () => {
      const bench = await open(BY_HAND)
      await createMany(bench, 200, { priority: 9, concurrency_key: 'k' })
      const taskId = await createId(bench)
      await claimOne(bench)
      expect(await claimedIds(bench)).toEqual([taskId])
    },
  )

  verifies('LEASE-2', 'only queued tasks whose time has come are given', async () => {
    const bench = await open(BY_HAND)
    await createId(bench, { delay_seconds: 60 })
    const canceled = await createId(bench)
    await bench.call('cancelTask', { task_id: canceled })
    await bench.call('fail', { ...held(await leased(bench)), error: ERROR })
    await bench.call('complete', { ...held(await leased(bench)), store_result: true })
    expect(await claim(bench, { max_tasks: 10 })).toEqual([])
  })

  verifies('LEASE-3', 'no work is an empty list', async () => {
    const bench = await open(BY_HAND)
    expect(await bench.call('leaseNext', { worker_id: 'w' })).toEqual({ tasks: [] })
    expect(await bench.receipts()).toEqual([])
  })

  verifies('LEASE-3', 'a claim gives one task unless it asks for more', async () => {
    const bench = await open(BY_HAND)
    await createMany(bench, 5)
    expect(await claim(bench)).toHaveLength(1)
    expect(await claim(bench, { max_tasks: 3 })).toHaveLength(3)
    expect(await claim(bench, { max_tasks: 3 })).toHaveLength(1)
  })

  verifies('LEASE-3', 'a claim may take 1000 tasks, and not 1001', async () => {
    const bench = await open(BY_HAND)
    await createMany(bench, 1_000)
    await createId(bench)
    for (const max_tasks of [0, 1_001]) {
      const refusal = await bench.refusal('leaseNext', { worker_id: 'w', max_tasks })
      expect(refusal).toMatchObject({ code: 'invalid_input', details: { field: 'max_tasks' } })
    }
    expect(await claim(bench, { max_tasks: 1_000 })).toHaveLength(1_000)
  })

  verifies('LEASE-3', 'a server may give fewer at once than are asked for', async () => {
    const bench = await open({ ...BY_HAND, claim: { max_tasks: 2 } })
    await createMany(bench, 5)
    expect(await claim(bench, { max_tasks: 5 })).toHaveLength(2)
  })

  verifies('LEASE-3', 'a worker id has 1 to 200 characters', async () => {
    const bench = await open(BY_HAND)
    await createMany(bench, 2)
    for (const worker_id of ['', 'x'.repeat(201), undefined]) {
      const refusal = await bench.refusal('leaseNext', { worker_id })
      expect(refusal).toMatchObject({ code: 'invalid_input', details: { field: 'worker_id' } })
    }
    for (const worker_id of ['x', 'x'.repeat(200)]) expect(await claim(bench, { worker_id })).toHaveLength(1)
  })

  verifies('LEASE-3', 'leases last 300 s, or as asked, between 10 and 1800 s', async () => {
    const bench = await open(BY_HAND)
    const lengths: number[] = []
    for (const lease_ttl_seconds of [undefined, -1, 0, 9, 10, 11, 1_800, 1_801, 86_400]) {
      await create(bench)
      const lease = await claimOne(bench, lease_ttl_seconds === undefined ? {} : { lease_ttl_seconds })
      lengths.push((Date.parse(lease.expires_at) - bench.clock.now()) / 1_000)
    }
    expect(lengths).toEqual([300, 10, 10, 10, 10, 11, 1_800, 1_800, 1_800])
  })

  verifies('LEASE-3', 'the bounds of leases come from the configuration', async () => {
    const lease = { ...BY_HAND.lease, default_ttl_seconds: 7, min_ttl_seconds: 5, max_ttl_seconds: 9 }
    const bench = await open({ lease })
    const lengths: number[] = []
    for (const asked of [{}, { lease_ttl_seconds: 1 }, { lease_ttl_seconds: 100 }]) {
      await create(bench)
      lengths.push((Date.parse((await claimOne(bench, asked)).expires_at) - bench.clock.now()) / 1_000)
    }
    expect(lengths).toEqual([7, 5, 9])
  })

  verifies('LEASE-3', 'a claim waits at most 60 s', async () => {
    const bench = await open(BY_HAND)
    for (const wait_seconds of [-1, 61, 1.5]) {
      const refusal = await bench.refusal('leaseNext', { worker_id: 'w', wait_seconds })
      expect(refusal).toMatchObject({ code: 'invalid_input', details: { field: 'wait_seconds' } })
    }
  })

  verifies(
    'LEASE-3',
    'preferred types go first among tasks of one priority, and are only a wish',
    async () => {
      const bench = await open(BY_HAND)
      const plain = await createId(bench, { type: 'plain' })
      const preferred = await createId(bench, { type: 'preferred' })
      const urgent = await createId(bench, { type: 'plain', priority: 1 })
      const claimed: string[] = []
      for (let count = 0; count < 3; count++) {
        claimed.push(...(await claimedIds(bench, { preferred_types: ['preferred', 'unheard-of'] })))
      }
      expect(claimed).toEqual([urgent, preferred, plain])
    },
  )

  verifies('LEASE-3', 'a preferred type that is not accepted is not given', async () => {
    const bench = await open(BY_HAND)
    await createId(bench, { type: 'preferred' })
    const taskId = await createId(bench)
    const asked = { accept_types: ['work'], preferred_types: ['preferred'], max_tasks: 10 }
    expect(await claimedIds(bench, asked)).toEqual([taskId])
  })

  verifies('LEASE-3', 'a grant carries all that the work needs', async () => {
    const bench = await open(BY_HAND)
    const wanted = {
      type: 'report.render',
      payload: { page: 1, deep: { list: [1, 'two', null] } },
      payload_pointer: 's3:bucket/key',
      summary: 'Render page 1',
      priority: 7,
      requirements: { capabilities: ['GPU'], tags: ['nightly'] },
      metadata: { trace: 'x' },
      expected_outcome_kind: 'file',
      expected_artifact_mime: 'application/pdf',
      deadline_at: iso(bench.clock.now() + 3_600_000),
    }
    const asked = { principal_id: 'alice', timeout_seconds: 60, result_delivery: { channel: 'inline' } }
    const { task_id } = await create(bench, { ...wanted, ...asked })
    const lease = await claimOne(bench, { capabilities: ['gpu'], worker_instance_id: 'process-7' })
    const alice = { principal_kind: 'agent', principal_id: 'alice' }
    expect(lease).toEqual({
      ...wanted,
      task_id,
      lease_id: expect.any(String),
      fence: 1,
      attempt: 0,
      max_attempts: 3,
      expires_at: iso(bench.clock.now() + 300_000),
      timeout_at: iso(bench.clock.now() + 60_000),
      result_channel: 'inline',
      created_by: alice,
      recipient: alice,
      created_at: iso(bench.clock.now()),
    })
  })

  verifies('LEASE-3', 'the lease shows in the task, its id to the holder alone', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench)
    const { lease_id, expires_at } = lease
    const seen = { worker_id: 'w-1', expires_at, fence: 1 }
    expect((await task(bench, lease.task_id)).lease).toEqual(seen)
    const own = await bench.call('getTask', { task_id: lease.task_id, worker_id: 'w-1' })
    expect(own.lease).toEqual({ ...seen, lease_id })
    const other = await bench.call('getTask', { task_id: lease.task_id, worker_id: 'w-2' })
    expect(other.lease).toEqual(seen)
  })

  verifies(
    'LEASE-3',
    'the lease shows to the owner, and not to one who is merely owed the outcome',
    async () => {
      const bench = await open(BY_HAND)
      const recipient = { principal_kind: 'agent', principal_id: 'bob' } as const
      const { task_id } = await leased(bench, { principal_id: 'alice', recipient })
      const seenBy = async (id: string) => (await bench.call('getTask', { task_id }, asAgent(id))).lease
      expect(await seenBy('alice')).toMatchObject({ worker_id: 'w-1', fence: 1 })
      expect(await seenBy('bob')).toBeNull()
      const { tasks } = await bench.call('listTasks', {}, asAgent('bob'))
      expect(tasks).toMatchObject([{ task_id, status: 'leased', lease: null }])
    },
  )

  verifies('LEASE-3', 'a claim leaves an accepted receipt from the worker', async () => {
    const bench = await open(BY_HAND)
    const lease = await leased(bench, {}, { capabilities: ['B', 'a'] })
    const [assigned, accepted] = await bench.receipts(lease.task_id)
    expect(accepted).toMatchObject({
      receipt_type: 'task.accepted',
      from: { kind: 'worker', id: 'w-1' },
      to: { kind: 'system', id: 'asyncgate' },
      lease_id: lease.lease_id,
      parents: [assigned!.receipt_id],
      body: { worker_capabilities: ['a', 'b'] },
    })
  })
})
