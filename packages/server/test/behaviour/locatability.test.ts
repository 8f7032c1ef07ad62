// Locatability: a completion discharges only if it says where the result is, then or afterwards.
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { type Bench, onEveryStore } from './harness.ts'
import {
  ALICE,
  BOB,
  everything,
  hold,
  ofType,
  openIds,
  queue,
  succeedUnlocated,
  take,
  WORKER,
} from './steps.ts'

const STRICT = { receipts: { locatability: 'strict' as const } }
const LOCATED = [{ url: 'https://example.org/report' }]
const PROOF = {
  mode: 'push',
  target: { bucket: 'b' },
  status: 'delivered',
  at: '2026-01-01T00:00:00.000Z',
  proof: { etag: 'e' },
}

const LOCATIONS = {
  url: { artifacts: [{ url: 'https://example.org' }] },
  uri: { artifacts: [{ uri: 'urn:example:1' }] },
  pointer: { artifacts: [{ pointer: 'blob:store/1' }] },
  path: { artifacts: [{ path: '/srv/report' }] },
  key: { artifacts: [{ key: 'reports/1' }] },
  row_id: { artifacts: [{ row_id: 0 }] },
  file_id: { artifacts: [{ file_id: 'f-1' }] },
  'one of several artifacts': { artifacts: [{ name: 'a' }, { name: 'b', key: 'k' }] },
  'a delivery proof': { delivery_proof: PROOF },
  'a result that AsyncGate stores': { store_result: true },
}

const NO_LOCATIONS = {
  'a result alone': { result: { answer: 42 } },
  'an artifact without a locator': { artifacts: [{ name: 'report', size: 3 }] },
  'an empty locator': { artifacts: [{ url: '' }] },
  'no artifacts': { artifacts: [] },
  'a result that is not to be stored': { result: 1, store_result: false },
}

/** Who may act for itself alone, as a real credential would. */
const agent = (id: string) => ({
  caller: {
    principal: { kind: 'agent' as const, id },
    speaksForAll: false,
    scopes: AGENT,
    role: 'agent' as const,
  },
})
const worker = (id: string) => ({
  caller: {
    principal: { kind: 'worker' as const, id },
    speaksForAll: false,
    scopes: LEASE,
    role: 'worker' as const,
  },
})
const AGENT = new Set(['tasks:read', 'tasks:write', 'receipts:read'] as const)
const LEASE = new Set(['tasks:lease'] as const)

async function anomalies(bench: Bench, task_id: string) {
  return ofType(await bench.receipts(task_id), 'system.anomaly')
}

onEveryStore('locatability', (open) => {
  for (const [what, how] of Object.entries(LOCATIONS)) {
    verifies('RCPT-7', `a completion with ${what} discharges, in both modes`, async () => {
      for (const config of [{}, STRICT]) {
        const bench = await open(config)
        const { holding, receipt_id, task_id } = await hold(bench)
        const completed = await bench.call('complete', { ...holding, ...how })
        expect(await bench.call('checkTerminator', { parent_receipt_id: receipt_id })).toEqual({
          has_terminator: true,
          terminator_receipt_id: completed.receipt_id,
        })
        expect(await anomalies(bench, task_id)).toEqual([])
      }
    })
  }

  for (const [what, how] of Object.entries(NO_LOCATIONS)) {
    verifies('RCPT-7', `lenient: with ${what} the task succeeds and its obligation stays open`, async () => {
      const bench = await open()
      const { holding, receipt_id, task_id } = await hold(bench)
      const completed = await bench.call('complete', { ...holding, ...how })
      expect(completed).toMatchObject({ ok: true, status: 'succeeded' })
      expect(await bench.call('getReceipt', { receipt_id: completed.receipt_id })).toMatchObject({
        receipt_type: 'task.completed',
        parents: [],
      })
      expect(await openIds(bench)).toEqual([receipt_id])
      expect(await anomalies(bench, task_id)).toMatchObject([
        { body: { kind: 'locatability_missing', details: { original_parents: [receipt_id] } } },
      ])
    })

    verifies('RCPT-7', `strict: with ${what} the completion is refused and the lease stays`, async () => {
      const bench = await open(STRICT)
      const { holding, task_id } = await hold(bench)
      const before = await everything(bench, task_id)
      expect(await bench.refusal('complete', { ...holding, ...how })).toMatchObject({
        code: 'locatability_required',
        status: 422,
      })
      expect(await everything(bench, task_id)).toEqual(before)
      const completed = await bench.call('complete', { ...holding, ...how, artifacts: LOCATED })
      expect(completed).toMatchObject({ ok: true, status: 'succeeded' })
    })
  }

  verifies('RCPT-7', 'the anomaly goes to the owner, although the outcome is owed to another', async () => {
    const bench = await open()
    const { completed_id, task_id } = await succeedUnlocated(bench, { ...ALICE, recipient: BOB })
    expect(await anomalies(bench, task_id)).toMatchObject([
      {
        from: { kind: 'system', id: 'asyncgate' },
        to: { kind: 'agent', id: 'alice' },
        parents: [completed_id],
        body: { recommended_action: expect.stringContaining('attach_artifacts') },
      },
    ])
  })

  verifies('RCPT-7', 'a stored result is an artifact of the task that points to it', async () => {
    const bench = await open()
    const { holding, task_id } = await hold(bench)
    const artifacts = [{ name: 'log' }]
    const { receipt_id } = await bench.call('complete', {
      ...holding,
      result: { answer: 42 },
      artifacts,
      store_result: true,
    })
    const stored = { type: 'asyncgate', pointer: `asyncgate:result/${task_id}` }
    const { body } = await bench.call('getReceipt', { receipt_id })
    expect(body.artifacts).toEqual([...artifacts, stored])
    expect((await bench.call('getTask', { task_id })).result).toMatchObject({
      result: { answer: 42 },
      artifacts: [...artifacts, stored],
    })
  })

  verifies('RCPT-7', 'a delivery proof is kept with task and receipt', async () => {
    const bench = await open()
    const { holding, task_id } = await hold(bench)
    const { receipt_id } = await bench.call('complete', { ...holding, delivery_proof: PROOF })
    expect((await bench.call('getTask', { task_id })).result?.delivery_proof).toEqual(PROOF)
    expect((await bench.call('getReceipt', { receipt_id })).body.delivery_proof).toEqual(PROOF)
  })

  verifies('RCPT-7', 'a delivery proof that lacks a member is not one', async () => {
    const bench = await open()
    const { holding } = await hold(bench)
    for (const member of Object.keys(PROOF)) {
      const delivery_proof = { ...PROOF, [member]: undefined }
      const error = await bench.refusal('complete', { ...holding, delivery_proof })
      expect([member, error.code]).toEqual([member, 'invalid_input'])
    }
  })

  verifies('RCPT-7', 'in a batch of outcomes the same rule holds for each', async () => {
    const bench = await open(STRICT)
    const first = await hold(bench)
    const second = await hold(bench)
    const { outcomes } = await bench.call('settle', {
      worker_id: WORKER,
      outcomes: [first, second].map(({ holding: { task_id, lease_id } }, index) => ({
        task_id,
        lease_id,
        action: 'complete' as const,
        store_result: index === 1,
      })),
    })
    expect(outcomes).toMatchObject([{ ok: false, error: 'locatability_required' }, { ok: true }])
  })
})

onEveryStore('attached artifacts', (open) => {
  verifies('RCPT-8', 'a second, linked task.completed discharges what was left open', async () => {
    const bench = await open()
    const { task_id, receipt_id, completed_id } = await succeedUnlocated(bench, { ...ALICE, recipient: BOB })
    const attached = await bench.call('attachArtifacts', { ...ALICE, task_id, artifacts: LOCATED })
    expect(attached.receipt_id).not.toBe(completed_id)
    expect(await bench.call('getReceipt', { receipt_id: attached.receipt_id })).toMatchObject({
      receipt_type: 'task.completed',
      from: { kind: 'agent', id: 'alice' },
      to: { kind: 'human', id: 'bob' },
      parents: [receipt_id],
      body: { artifacts: LOCATED },
    })
    expect(await openIds(bench, BOB)).toEqual([])
    expect(await bench.call('checkTerminator', { parent_receipt_id: receipt_id })).toEqual({
      has_terminator: true,
      terminator_receipt_id: attached.receipt_id,
    })
  })

  verifies('RCPT-8', 'the task itself stays as it was, and no second result_ready is sent', async () => {
    const bench = await open()
    const { task_id } = await succeedUnlocated(bench)
    const before = await bench.call('getTask', { task_id })
    await bench.clock.advance(1_000)
    await bench.call('attachArtifacts', { task_id, artifacts: LOCATED })
    expect(await bench.call('getTask', { task_id })).toEqual(before)
    expect(ofType(await bench.receipts(task_id), 'task.result_ready')).toHaveLength(1)
  })

  const ALLOWED = {
    'the completing worker': [worker(WORKER), { worker_id: WORKER }],
    'the completing worker by its credential alone': [worker(WORKER), {}],
    'the owner': [agent('alice'), {}],
    'an administrator': [{}, {}],
  } as const
  for (const [who, [as, named]] of Object.entries(ALLOWED)) {
    verifies('RCPT-8', `${who} may attach`, async () => {
      const bench = await open()
      const { task_id, receipt_id } = await succeedUnlocated(bench, ALICE)
      const attached = await bench.call('attachArtifacts', { task_id, artifacts: LOCATED, ...named }, as)
      expect(attached.ok).toBe(true)
      expect(await openIds(bench, ALICE)).not.toContain(receipt_id)
    })
  }

  const REFUSED = {
    'another agent': [agent('eve'), {}],
    'another worker': [worker('w2'), { worker_id: 'w2' }],
  } as const
  for (const [who, [as, named]] of Object.entries(REFUSED)) {
    verifies('RCPT-8', `${who} finds no such task`, async () => {
      const bench = await open()
      const { task_id } = await succeedUnlocated(bench, ALICE)
      const before = await everything(bench, task_id)
      const error = await bench.refusal('attachArtifacts', { task_id, artifacts: LOCATED, ...named }, as)
      expect(error.code).toBe('not_found')
      expect(await everything(bench, task_id)).toEqual(before)
    })
  }

  verifies('RCPT-8', 'attaching the same again returns the first receipt', async () => {
    const bench = await open()
    const { task_id } = await succeedUnlocated(bench)
    const artifacts = [{ url: 'https://example.org', size: 3 }]
    const first = await bench.call('attachArtifacts', { task_id, artifacts })
    await bench.clock.advance(60_000)
    const again = await bench.call('attachArtifacts', {
      task_id,
      artifacts: [{ size: 3, url: 'https://example.org' }],
    })
    expect(again).toEqual(first)
  })

  verifies('RCPT-8', 'attaching something else to what is discharged is refused', async () => {
    const bench = await open()
    const { task_id } = await succeedUnlocated(bench)
    const { receipt_id } = await bench.call('attachArtifacts', { task_id, artifacts: LOCATED })
    const before = await everything(bench, task_id)
    expect(await bench.refusal('attachArtifacts', { task_id, artifacts: [{ key: 'other' }] })).toMatchObject({
      code: 'invalid_transition',
      details: { task_status: 'succeeded', discharged_by: receipt_id },
    })
    expect(await everything(bench, task_id)).toEqual(before)
  })

  verifies('RCPT-8', 'of twenty that attach at once, one discharges', async () => {
    const bench = await open()
    const { task_id } = await succeedUnlocated(bench)
    const attempts = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        bench.call('attachArtifacts', { task_id, artifacts: [{ key: `k${index}` }] }),
      ),
    )
    expect(attempts.filter((attempt) => attempt.status === 'fulfilled')).toHaveLength(1)
    expect(ofType(await bench.receipts(task_id), 'task.completed')).toHaveLength(2)
  })

  verifies('RCPT-8', 'artifacts that locate nothing are refused', async () => {
    const bench = await open()
    const { task_id } = await succeedUnlocated(bench)
    for (const artifacts of [[], [{ name: 'report' }], [{ url: '' }]]) {
      const error = await bench.refusal('attachArtifacts', { task_id, artifacts })
      expect(error).toMatchObject({ code: 'locatability_required', status: 422 })
    }
  })

  const UNENDED: Record<string, (bench: Bench) => Promise<string>> = {
    queued: async (bench) => (await queue(bench)).task_id,
    leased: async (bench) => (await hold(bench)).task_id,
    running: async (bench) => {
      const { holding, task_id } = await hold(bench)
      await bench.call('start', holding)
      return task_id
    },
    failed: async (bench) => {
      const { holding, task_id } = await hold(bench)
      await bench.call('fail', { ...holding, error: { code: 'e', message: '' }, retryable: false })
      return task_id
    },
    canceled: async (bench) => {
      const { task_id } = await queue(bench)
      await bench.call('cancelTask', { task_id })
      return task_id
    },
  }
  for (const [status, reach] of Object.entries(UNENDED)) {
    verifies(['RCPT-8', 'OPS-5'], `nothing can be attached to a ${status} task`, async () => {
      const bench = await open()
      const task_id = await reach(bench)
      const before = await everything(bench, task_id)
      expect(await bench.refusal('attachArtifacts', { task_id, artifacts: LOCATED })).toMatchObject({
        code: 'invalid_transition',
        details: { task_status: status },
      })
      expect(await everything(bench, task_id)).toEqual(before)
    })
  }

  verifies('RCPT-8', 'the worker that lost the task before it was completed may not attach', async () => {
    const bench = await open({ lease: { default_ttl_seconds: 10 } })
    const { task_id } = await hold(bench, ALICE)
    await bench.clock.advance(10_000)
    await bench.gate.sweep()
    await bench.clock.advance(5_000)
    await bench.call('complete', await take(bench, { worker_id: 'w2' }))
    const error = await bench.refusal(
      'attachArtifacts',
      { task_id, artifacts: LOCATED, worker_id: WORKER },
      worker(WORKER),
    )
    expect(error.code).toBe('not_found')
  })
})
