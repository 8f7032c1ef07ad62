// Principals: who may name whom, who sees what, and that neither scope nor tenant is crossed.
import { contract, type Operation, type OperationKey, SCOPES, type Scope } from '@asyncgate/sdk'
import { expect } from 'vitest'
import type { Caller, Role } from '../../src/auth/caller.ts'
import { DEFAULT_SCOPES } from '../../src/auth/roles.ts'
import { configOf, type ConfigValues } from '../../src/config.ts'
import { startGate } from '../../src/gate.ts'
import { verifies } from '../requirements.ts'
import { onEveryStore } from './harness.ts'
import { ALICE, BOB, hold, queue, succeedUnlocated, WORKER } from './steps.ts'

/** A credential of its own principal alone. */
function credential(role: Role, kind: Caller['principal']['kind'], id: string, scopes?: readonly Scope[]) {
  const own = new Set(scopes ?? DEFAULT_SCOPES[role])
  return { caller: { principal: { kind, id }, role, scopes: own, speaksForAll: false } }
}
const alice = credential('agent', 'agent', 'alice')
const eve = credential('agent', 'agent', 'eve')
const worker = (id: string) => credential('worker', 'worker', id)

const NOWHERE = '0197c5a4-7d2e-7c12-b6f0-2a9c4d1e8f03'
const LOCATED = [{ url: 'https://example.org' }]

onEveryStore('who acts', (open) => {
  verifies('AUTH-5', 'an administrator acts as agent/default unless it names another', async () => {
    const bench = await open()
    const named = async (who: object) => {
      const { task_id } = await queue(bench, who)
      return (await bench.call('getTask', { task_id })).created_by
    }
    expect(await named({})).toEqual({ principal_kind: 'agent', principal_id: 'default' })
    expect(await named(BOB)).toEqual(BOB)
    expect(await named({ principal_id: 'alice' })).toEqual(ALICE)
    expect(await named({ principal_kind: 'service' })).toEqual({
      principal_kind: 'service',
      principal_id: 'default',
    })
  })

  verifies('AUTH-5', 'any other credential acts as its own principal', async () => {
    const bench = await open()
    for (const who of [{}, ALICE, { principal_id: 'alice' }, { principal_kind: 'agent' as const }]) {
      const { task_id } = await bench.call('createTask', { type: 'work', ...who }, alice)
      expect((await bench.call('getTask', { task_id })).created_by).toEqual(ALICE)
    }
  })

  const OTHERS: Record<string, [OperationKey, object, ReturnType<typeof credential>, string]> = {
    'another id': ['createTask', { type: 'work', principal_id: 'bob' }, alice, 'principal_id'],
    'another kind': ['createTask', { type: 'work', principal_kind: 'human' }, alice, 'principal_kind'],
    'another id in a read': ['openObligations', { principal_id: 'bob' }, alice, 'principal_id'],
    'another worker': ['leaseNext', { worker_id: 'other' }, worker('indexer'), 'worker_id'],
    'a worker whose name only begins alike': [
      'leaseNext',
      { worker_id: 'indexer2' },
      worker('indexer'),
      'worker_id',
    ],
    'a separator and nothing': ['leaseNext', { worker_id: 'indexer-' }, worker('indexer'), 'worker_id'],
    'another kind of worker': [
      'leaseNext',
      { worker_id: 'indexer', worker_kind: 'service' },
      worker('indexer'),
      'worker_kind',
    ],
  }
  for (const [what, [key, input, as, field]] of Object.entries(OTHERS)) {
    verifies('AUTH-5', `naming ${what} is forbidden to it`, async () => {
      const bench = await open()
      await queue(bench)
      expect(await bench.refusal(key, input, as)).toMatchObject({
        code: 'forbidden',
        status: 403,
        details: { field, your_role: as.caller.role },
      })
      expect((await bench.receipts()).map((receipt) => receipt.receipt_type)).toEqual(['task.assigned'])
    })
  }

  verifies('AUTH-5', 'a worker may add an instance to its name', async () => {
    const bench = await open()
    for (const worker_id of ['indexer', 'indexer.1', 'indexer-1', 'indexer:a', 'indexer/eu/7']) {
      await queue(bench)
      const { tasks } = await bench.call('leaseNext', { worker_id }, worker('indexer'))
      const { lease } = await bench.call('getTask', { task_id: tasks[0]!.task_id })
      expect(lease?.worker_id).toBe(worker_id)
    }
  })

  verifies('AUTH-5', 'a service with the scope leases as what it is', async () => {
    const bench = await open()
    await queue(bench)
    const scheduler = credential('service', 'service', 'scheduler', ['tasks:lease'])
    const { tasks } = await bench.call('leaseNext', { worker_id: 'scheduler' }, scheduler)
    const { task_id, lease_id } = tasks[0]!
    await bench.call('complete', { worker_id: 'scheduler', task_id, lease_id, store_result: true }, scheduler)
    const from = (await bench.receipts(task_id)).map((receipt) => receipt.from.kind)
    expect(from).toEqual(['agent', 'service', 'service', 'system'])
  })

  verifies('AUTH-5', 'workers of one id and two kinds are two', async () => {
    const bench = await open()
    const { holding } = await hold(bench)
    const error = await bench.refusal('complete', { ...holding, worker_kind: 'service' })
    expect(error.code).toBe('lease_invalid_or_expired')
  })

  verifies('AUTH-5', 'each scope opens its own operations and no others', async () => {
    const bench = await open()
    for (const [key, operation] of Object.entries(contract) as [OperationKey, Operation][]) {
      for (const scope of SCOPES) {
        const as = credential('service', 'service', 's', [scope])
        const code = (await bench.refusal(key, { unknown_field: 1 }, as)).code
        const suffices = operation.scopes.length === 0 || operation.scopes.includes(scope)
        const isOpen = operation.role === undefined && suffices
        expect([key, scope, code]).toEqual([key, scope, isOpen ? 'invalid_input' : 'forbidden'])
      }
    }
  })

  verifies('AUTH-5', 'what is forbidden says which scope is needed', async () => {
    const bench = await open()
    expect(await bench.refusal('createTask', { type: 'work' }, worker('w1'))).toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('tasks:write'),
      details: { required_scope: 'tasks:write', your_role: 'worker' },
    })
  })
})

onEveryStore('who sees what', (open) => {
  verifies('AUTH-5', 'the lease id is shown to its holder alone', async () => {
    const bench = await open()
    const { holding, task_id } = await hold(bench, ALICE)
    const seen = async (input: object, as?: ReturnType<typeof credential>) =>
      (await bench.call('getTask', { task_id, ...input }, as)).lease
    const plain = { worker_id: WORKER, expires_at: '2026-01-01T00:05:00.000Z', fence: 1 }
    expect(await seen({})).toEqual(plain)
    expect(await seen({}, alice)).toEqual(plain)
    expect(await seen({ worker_id: WORKER }, worker(WORKER))).toEqual({
      ...plain,
      lease_id: holding.lease_id,
    })
    const { tasks } = await bench.call('listTasks', {}, alice)
    expect(tasks.map((task) => task.lease)).toEqual([plain])
  })

  verifies('AUTH-5', 'a task is there for owner, recipient and holder, and for nobody else', async () => {
    const bench = await open()
    const { task_id } = await hold(bench, { ...ALICE, recipient: BOB })
    const bob = credential('agent', 'human', 'bob')
    for (const as of [alice, bob, worker(WORKER)]) {
      expect((await bench.call('getTask', { task_id }, as)).task_id).toBe(task_id)
    }
    const never = await bench.refusal('getTask', { task_id: NOWHERE }, eve)
    for (const as of [eve, worker('w2')]) {
      const error = await bench.refusal('getTask', { task_id }, as)
      expect(error.code).toBe('not_found')
      expect(error.message).toBe(never.message.replace(NOWHERE, task_id))
    }
  })

  const ON_TASKS: Record<string, object> = {
    cancelTask: {},
    retryTask: {},
    explainTask: {},
    getProgress: {},
    attachArtifacts: { artifacts: LOCATED },
  }
  for (const [key, input] of Object.entries(ON_TASKS)) {
    verifies('AUTH-5', `${key} answers a stranger as if there were no such task`, async () => {
      const bench = await open()
      const { task_id } = await succeedUnlocated(bench, ALICE)
      const before = await bench.receipts()
      const error = await bench.refusal(key as OperationKey, { task_id, ...input }, eve)
      expect(error.body()).toEqual({
        error: 'not_found',
        message: `No task ${task_id}. Check the id, or list your tasks.`,
        retryable: false,
      })
      expect(await bench.receipts()).toEqual(before)
    })
  }

  verifies('AUTH-5', 'lists show an agent what concerns it, an administrator everything', async () => {
    const bench = await open()
    const own = await queue(bench, ALICE)
    const owed = await queue(bench, { ...BOB, recipient: ALICE })
    const strange = await queue(bench, BOB)
    const ids = async (as?: ReturnType<typeof credential>) =>
      (await bench.call('listTasks', {}, as)).tasks.map((task) => task.task_id)
    expect(await ids(alice)).toEqual([owed.task_id, own.task_id])
    expect(await ids()).toEqual([strange.task_id, owed.task_id, own.task_id])
    const { receipts } = await bench.call('listReceipts', {}, alice)
    expect(receipts.map((receipt) => receipt.task_id)).toEqual([own.task_id, owed.task_id])
  })

  verifies('AUTH-5', 'a receipt is there for sender, recipient and who the task concerns', async () => {
    const bench = await open()
    const { task_id } = await hold(bench, ALICE)
    const accepted = (await bench.receipts(task_id))[1]!
    const { receipt_id } = accepted
    for (const as of [alice, worker(WORKER), undefined]) {
      expect(await bench.call('getReceipt', { receipt_id }, as)).toMatchObject(accepted)
    }
    for (const key of ['getReceipt', 'ackReceipt'] as const) {
      expect((await bench.refusal(key, { receipt_id }, eve)).code).toBe('not_found')
    }
    const since = await bench.refusal('listReceipts', { since_receipt_id: receipt_id }, eve)
    expect(since.code).toBe('not_found')
  })

  verifies('AUTH-5', 'another tenant finds nothing under our ids, whatever it asks', async () => {
    const [bench, other] = [await open(), await open()]
    const { holding, task_id, receipt_id } = await hold(bench)
    const before = [await bench.call('getTask', { task_id }), await bench.receipts()]
    const attempts = foreignCalls({ ...holding, receipt_id })
    const never = foreignCalls({
      worker_id: WORKER,
      task_id: NOWHERE,
      lease_id: NOWHERE,
      receipt_id: NOWHERE,
    })
    for (const [at, [key, input]] of attempts.entries()) {
      const error = await other.refusal(key, input)
      const blank = await other.refusal(key, never[at]![1])
      const text = JSON.stringify(error.body()).replaceAll(task_id, NOWHERE).replaceAll(receipt_id, NOWHERE)
      expect([key, text]).toEqual([key, JSON.stringify(blank.body())])
    }
    expect([await bench.call('getTask', { task_id }), await bench.receipts()]).toEqual(before)
  })
})

/** Every operation that takes an id, with ids of somebody else. */
function foreignCalls(ids: {
  worker_id: string
  task_id: string
  lease_id: string
  receipt_id: string
}): [OperationKey, object][] {
  const { task_id, receipt_id, ...held } = ids
  const holding = { ...held, task_id }
  const note = { receipt_type: 'x.note', to: { kind: 'agent', id: 'a' } }
  return [
    ...(['getTask', 'cancelTask', 'retryTask', 'explainTask', 'getProgress'] as const).map(
      (key): [OperationKey, object] => [key, { task_id }],
    ),
    ...(['start', 'complete', 'renewLease', 'releaseLease'] as const).map((key): [OperationKey, object] => [
      key,
      holding,
    ]),
    ['reportProgress', { ...holding, progress: {} }],
    ['fail', { ...holding, error: { code: 'e', message: '' } }],
    ['attachArtifacts', { task_id, artifacts: LOCATED }],
    ['getReceipt', { receipt_id }],
    ['ackReceipt', { receipt_id }],
    ['checkTerminator', { parent_receipt_id: receipt_id }],
    ['listReceipts', { since_receipt_id: receipt_id }],
    ['bootstrap', { since_receipt_id: receipt_id }],
    ['submitReceipt', { ...note, parents: [receipt_id] }],
    ['submitReceipt', { ...note, task_id }],
    ['createTask', { type: 'work', depends_on: [task_id] }],
    ['createTask', { type: 'work', parent_task_id: task_id }],
    ['createTask', { type: 'work', caused_by_receipt_id: receipt_id }],
  ]
}

/** Started only to be refused: nothing is opened. */
const refusesToStart = async (values: ConfigValues) => {
  const config = configOf({ port: 0, database: { url: 'memory:' }, log: { level: 'silent' }, ...values })
  await expect(startGate(config)).rejects.toMatchObject({ name: 'ConfigError' })
}

verifies('AUTH-4', 'development mode refuses every address but loopback', async () => {
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'gate.example.org']) {
    await refusesToStart({ host, auth: { mode: 'dev' } })
  }
})

verifies('AUTH-4', 'development mode refuses production', async () => {
  await refusesToStart({ environment: 'production', auth: { mode: 'dev' } })
})

verifies('AUTH-4', 'development mode serves on loopback without credentials', async () => {
  const config = configOf({
    port: 0,
    database: { url: 'memory:' },
    log: { level: 'silent' },
    auth: { mode: 'dev' },
  })
  const gate = await startGate(config)
  try {
    const reply = await fetch(`${gate.url}/v1/config`)
    expect([reply.status, new URL(gate.url).hostname]).toEqual([200, '127.0.0.1'])
  } finally {
    await gate.stop()
  }
})

verifies('AUTH-4', 'without development mode nobody is served without a key', async () => {
  await refusesToStart({ auth: { mode: 'keys' } })
})
