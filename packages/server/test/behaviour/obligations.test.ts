// Obligations: open until a receipt of a discharging type names them, by evidence and nothing else.
import { contract } from '@asyncgate/sdk'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { type Bench, onEveryStore } from './harness.ts'
import { ALICE, BOB, hold, openIds, queue, succeedUnlocated, take } from './steps.ts'

const SHORT = { lease: { default_ttl_seconds: 10, sweep_interval_seconds: 3_600 } }
const AGENT_DEFAULT = { kind: 'agent', id: 'default' } as const

const ENDS: Record<string, (bench: Bench) => Promise<string>> = {
  completed: async (bench) => {
    const { holding, receipt_id } = await hold(bench)
    await bench.call('complete', { ...holding, store_result: true })
    return receipt_id
  },
  failed: async (bench) => {
    const { holding, receipt_id } = await hold(bench)
    await bench.call('fail', { ...holding, error: { code: 'e', message: '' }, retryable: false })
    return receipt_id
  },
  canceled: async (bench) => {
    const { task_id, receipt_id } = await queue(bench)
    await bench.call('cancelTask', { task_id })
    return receipt_id
  },
}

/** What happens to a task, or is said about it, without ending it. */
const EVENTS: Record<
  string,
  (bench: Bench, of: { task_id: string; receipt_id: string }) => Promise<unknown>
> = {
  acceptance: async (bench) => take(bench),
  'start and progress': async (bench) => {
    const holding = await take(bench)
    await bench.call('start', holding)
    await bench.call('reportProgress', { ...holding, progress: { percent: 100 } })
  },
  'a retryable failure': async (bench) =>
    bench.call('fail', { ...(await take(bench)), error: { code: 'e', message: '' } }),
  release: async (bench) => bench.call('releaseLease', await take(bench)),
  'an expired lease': async (bench) => {
    await take(bench)
    await bench.clock.advance(10_000)
    await bench.gate.sweep()
  },
  'an anomaly': async (bench) => {
    const holding = await take(bench)
    for (let renewals = 0; renewals < 11; renewals += 1) await bench.call('renewLease', holding)
  },
  'an acknowledgement': async (bench, { receipt_id }) => bench.call('ackReceipt', { receipt_id }),
  'a receipt of another type that names it': async (bench, { receipt_id, task_id }) =>
    bench.call('submitReceipt', {
      receipt_type: 'x.completed',
      to: AGENT_DEFAULT,
      parents: [receipt_id],
      task_id,
    }),
  'the end of a schedule that names it': async (bench, { receipt_id }) =>
    bench.call('submitReceipt', {
      receipt_type: 'schedule.deleted',
      to: AGENT_DEFAULT,
      parents: [receipt_id],
    }),
  'a completion that says nowhere where the result is': async (bench) =>
    bench.call('complete', await take(bench)),
}

const schedule = (bench: Bench, what: 'created' | 'deleted' | 'paused', more: object = {}) =>
  bench.call('submitReceipt', {
    ...ALICE,
    receipt_type: `schedule.${what}`,
    to: { kind: 'agent', id: 'alice' },
    schedule_id: 's-1',
    ...more,
  })

onEveryStore('obligations', (open, _kind, store) => {
  for (const [what, end] of Object.entries(ENDS)) {
    verifies(['OBL-1', 'OBL-4'], `task.${what} discharges, and can be named as what did`, async () => {
      const bench = await open()
      const receipt_id = await end(bench)
      expect(await openIds(bench)).toEqual([])
      const { discharged_by } = await bench.call('getReceipt', { receipt_id })
      expect(await bench.call('checkTerminator', { parent_receipt_id: receipt_id })).toEqual({
        has_terminator: true,
        terminator_receipt_id: discharged_by,
      })
      expect(await bench.call('getReceipt', { receipt_id: discharged_by! })).toMatchObject({
        receipt_type: `task.${what}`,
        parents: [receipt_id],
        chain: [{ receipt_id }],
      })
    })
  }

  for (const [what, happen] of Object.entries(EVENTS)) {
    verifies('OBL-1', `${what} does not discharge`, async () => {
      const bench = await open(SHORT)
      const created = await queue(bench)
      await happen(bench, created)
      expect(await openIds(bench)).toEqual([created.receipt_id])
      expect(await bench.call('checkTerminator', { parent_receipt_id: created.receipt_id })).toEqual({
        has_terminator: false,
      })
    })
  }

  verifies(
    'OBL-1',
    'schedule.deleted discharges schedule.created, and nothing else of a schedule does',
    async () => {
      const bench = await open()
      const created = await schedule(bench, 'created')
      await schedule(bench, 'paused', { parents: [created.receipt_id] })
      expect(await openIds(bench, ALICE)).toEqual([created.receipt_id])
      const deleted = await schedule(bench, 'deleted', { parents: [created.receipt_id] })
      expect(await openIds(bench, ALICE)).toEqual([])
      expect(await bench.call('checkTerminator', { parent_receipt_id: created.receipt_id })).toEqual({
        has_terminator: true,
        terminator_receipt_id: deleted.receipt_id,
      })
    },
  )

  verifies('OBL-1', 'an end that names several obligations discharges each of them', async () => {
    const bench = await open()
    const one = await schedule(bench, 'created', { schedule_id: 's-1' })
    const two = await schedule(bench, 'created', { schedule_id: 's-2' })
    const three = await schedule(bench, 'created', { schedule_id: 's-3' })
    await schedule(bench, 'deleted', { parents: [one.receipt_id, three.receipt_id] })
    expect(await openIds(bench, ALICE)).toEqual([two.receipt_id])
  })

  verifies(
    'OBL-2',
    'the first receipt that discharges is the terminator; later ones change nothing',
    async () => {
      const bench = await open()
      const created = await schedule(bench, 'created')
      const first = await schedule(bench, 'deleted', { parents: [created.receipt_id] })
      await schedule(bench, 'deleted', { parents: [created.receipt_id], body: { again: true } })
      expect(await bench.call('checkTerminator', { parent_receipt_id: created.receipt_id })).toEqual({
        has_terminator: true,
        terminator_receipt_id: first.receipt_id,
      })
    },
  )

  verifies(
    'OBL-2',
    'in one commit too the first that discharges is the terminator, and no other type is',
    async () => {
      const bench = await open()
      const created = await schedule(bench, 'created')
      const { task_id, receipt_id } = await succeedUnlocated(bench)
      const alice = { kind: 'agent', id: 'alice' } as const
      const deleted = (parent: string, body: object) => ({
        ...{ kind: 'submitReceipt' as const, receiptType: 'schedule.deleted', from: alice, to: alice },
        ...{ parents: [parent], body: { ...body }, taskId: null, scheduleId: null },
      })
      const results = await bench.gate.engine.execute(bench.tenantId, [
        deleted(created.receipt_id, { first: true }),
        deleted(created.receipt_id, { first: false }),
        deleted(receipt_id, {}),
        {
          kind: 'attach',
          actor: { principal: alice, sees: 'all' },
          taskId: task_id,
          artifacts: [{ key: 'k' }],
        },
      ])
      const ids = results.map((result) =>
        result.ok ? (result.reply as { receiptId: string }).receiptId : result.error,
      )
      const terminator = async (parent_receipt_id: string) =>
        (await bench.call('checkTerminator', { parent_receipt_id })).terminator_receipt_id
      expect(await terminator(created.receipt_id)).toBe(ids[0])
      expect(await terminator(receipt_id)).toBe(ids[3])
      expect(await store().findDoubtfulObligations(10)).toEqual([])
    },
  )

  verifies('OBL-2', 'the state of a task says nothing: it can have ended and still be owed', async () => {
    const bench = await open()
    const { task_id, receipt_id } = await succeedUnlocated(bench)
    expect(await bench.call('getTask', { task_id })).toMatchObject({ status: 'succeeded' })
    expect(await openIds(bench)).toEqual([receipt_id])
    await bench.call('attachArtifacts', { task_id, artifacts: [{ key: 'k' }] })
    expect(await openIds(bench)).toEqual([])
  })

  verifies('OBL-2', 'what is kept about obligations agrees with the receipts themselves', async () => {
    const bench = await open(SHORT)
    for (const end of Object.values(ENDS)) await end(bench)
    const created = await schedule(bench, 'created')
    for (const [, happen] of Object.entries(EVENTS)) {
      const task = await queue(bench, { priority: 1 })
      await happen(bench, task)
      await bench.call('cancelTask', { task_id: task.task_id })
    }
    await schedule(bench, 'deleted', { parents: [created.receipt_id] })
    await queue(bench)
    expect(await store().findDoubtfulObligations(10)).toEqual([])
  })

  verifies('OBL-3', 'the reply has exactly the keys that are promised, and no task state', async () => {
    const bench = await open()
    const { receipt_id } = await queue(bench, ALICE)
    await bench.clock.advance(7_400)
    const reply = await bench.call('openObligations', ALICE)
    const seen = new Date(bench.clock.now()).toISOString()
    const { open_obligations, server, ...rest } = reply
    expect(rest).toEqual({
      relationship: {
        principal_kind: 'agent',
        principal_id: 'alice',
        first_seen_at: seen,
        last_seen_at: seen,
        sessions_count: 1,
      },
      cursor: null,
    })
    expect(server).toEqual({
      name: 'asyncgate',
      version: expect.any(String),
      instance_id: bench.gate.instanceId,
      uptime: 7,
    })
    const { chain: _chain, discharged_by: _none, ...receipt } = await bench.call('getReceipt', { receipt_id })
    expect(open_obligations).toEqual([receipt])
    expect(contract.openObligations.output.safeParse(reply).success).toBe(true)
  })

  verifies('OBL-3', 'obligations are those of the principal that is owed, not of the owner', async () => {
    const bench = await open()
    const { receipt_id } = await queue(bench, { ...ALICE, recipient: BOB })
    expect(await openIds(bench, ALICE)).toEqual([])
    expect(await openIds(bench, BOB)).toEqual([receipt_id])
    expect(await openIds(bench, { ...BOB, principal_kind: 'agent' })).toEqual([])
  })

  verifies('OBL-3', 'another tenant is owed nothing of ours', async () => {
    const bench = await open()
    const other = await open()
    await queue(bench, ALICE)
    expect(await openIds(other, ALICE)).toEqual([])
  })

  verifies('OBL-3', 'they come oldest first, in pages', async () => {
    const bench = await open()
    const ids: string[] = []
    for (let count = 0; count < 5; count += 1) ids.push((await queue(bench)).receipt_id)
    const found: string[] = []
    let cursor: string | undefined
    do {
      const page = await bench.call('openObligations', { limit: 2, ...(cursor ? { cursor } : {}) })
      found.push(...page.open_obligations.map((receipt) => receipt.receipt_id))
      cursor = page.cursor ?? undefined
    } while (cursor !== undefined)
    expect(found).toEqual(ids)
  })

  verifies('OBL-3', 'what is discharged between two pages moves nothing else', async () => {
    const bench = await open()
    const tasks = [await queue(bench), await queue(bench), await queue(bench), await queue(bench)]
    const first = await bench.call('openObligations', { limit: 2 })
    await bench.call('cancelTask', { task_id: tasks[0]!.task_id })
    const second = await bench.call('openObligations', { limit: 2, cursor: first.cursor! })
    expect(second.open_obligations.map((receipt) => receipt.receipt_id)).toEqual([
      tasks[2]!.receipt_id,
      tasks[3]!.receipt_id,
    ])
  })

  verifies('OBL-3', 'the relationship counts sessions by instance, and by long silence', async () => {
    const bench = await open()
    const greet = async (principal_instance_id?: string) => {
      const who = principal_instance_id === undefined ? {} : { principal_instance_id }
      return (await bench.call('openObligations', { ...ALICE, ...who })).relationship.sessions_count
    }
    expect([await greet(), await greet()]).toEqual([1, 1])
    expect([await greet('a'), await greet('a'), await greet('b')]).toEqual([2, 2, 3])
    await bench.clock.advance(31 * 60 * 1_000)
    expect(await greet()).toBe(4)
    const { relationship } = await bench.call('openObligations', ALICE)
    expect(relationship.first_seen_at).toBe('2026-01-01T00:00:00.000Z')
    expect(relationship.last_seen_at).toBe('2026-01-01T00:31:00.000Z')
  })

  verifies('OBL-3', 'what is open is found among thousands that were discharged', async () => {
    const bench = await open()
    const { receipt_id } = await queue(bench, { type: 'kept' })
    for (let batch = 0; batch < 3; batch += 1) await createAndComplete(bench, 1_000)
    const { open_obligations, cursor } = await bench.call('openObligations', { limit: 1 })
    expect([open_obligations.map((receipt) => receipt.receipt_id), cursor]).toEqual([[receipt_id], null])
  })

  verifies(
    'OBL-4',
    'a receipt that opens nothing has no terminator, one that is not there is not found',
    async () => {
      const bench = await open()
      const { receipt_id } = await bench.call('submitReceipt', { receipt_type: 'x.note', to: AGENT_DEFAULT })
      expect(await bench.call('checkTerminator', { parent_receipt_id: receipt_id })).toEqual({
        has_terminator: false,
      })
      const other = await open()
      for (const elsewhere of [receipt_id, '0197c5a4-7d2e-7c12-b6f0-2a9c4d1e8f03']) {
        const error = await other.refusal('checkTerminator', { parent_receipt_id: elsewhere })
        expect(error.code).toBe('not_found')
      }
    },
  )

  verifies('OBL-5', 'bootstrap fills the inbox and leaves the other buckets empty', async () => {
    const bench = await open()
    const { task_id, receipt_id } = await queue(bench, ALICE)
    await queue(bench, BOB)
    await bench.call('cancelTask', { ...ALICE, task_id })
    const reply = await bench.call('bootstrap', ALICE)
    const { inbox_receipts, ...others } = reply.attention
    expect(inbox_receipts.map((receipt) => receipt.receipt_type)).toEqual([
      'task.assigned',
      'task.canceled',
      'task.result_ready',
    ])
    expect(others).toEqual({
      assigned_tasks: [],
      waiting_results: [],
      running_or_scheduled: [],
      anomalies: [],
    })
    expect(reply.cursor).toEqual({ latest_receipt_id: inbox_receipts[2]!.receipt_id })
    expect(reply.relationship).toMatchObject({ principal_id: 'alice', sessions_count: 1 })
    const since = await bench.call('bootstrap', { ...ALICE, since_receipt_id: receipt_id, max_items: 1 })
    expect(since.attention.inbox_receipts).toEqual([inbox_receipts[1]])
  })
})

async function createAndComplete(bench: Bench, count: number): Promise<void> {
  await bench.call('createTasks', { tasks: Array.from({ length: count }, () => ({ type: 'done' })) })
  const claim = { worker_id: 'w1', max_tasks: count, accept_types: ['done'] }
  const { tasks } = await bench.call('leaseNext', claim)
  const outcomes = tasks.map(({ task_id, lease_id }) => {
    return { task_id, lease_id, action: 'complete' as const, store_result: true }
  })
  await bench.call('settle', { worker_id: 'w1', outcomes })
}
