// The few steps that most histories begin with.
import type { GateContract, Input, Output } from '@asyncgate/sdk'
import type { Bench } from './harness.ts'

export const ALICE = { principal_kind: 'agent', principal_id: 'alice' } as const
export const BOB = { principal_kind: 'human', principal_id: 'bob' } as const
export const WORKER = 'w1'

export type Receipts = Output<GateContract['listReceipts']>['receipts']
type Created = Output<GateContract['createTask']>
type NewTask = Partial<Input<GateContract['createTask']>>
type Claim = Partial<Input<GateContract['leaseNext']>>

/** What a worker sends with every call about its lease. */
export interface Holding {
  readonly worker_id: string
  readonly task_id: string
  readonly lease_id: string
}

export function queue(bench: Bench, task: NewTask = {}): Promise<Created> {
  return bench.call('createTask', { type: 'work', ...task })
}

/** Claims one task; a test that takes what is not there is wrong. */
export async function take(bench: Bench, claim: Claim = {}): Promise<Holding> {
  const worker_id = claim.worker_id ?? WORKER
  const { tasks } = await bench.call('leaseNext', { ...claim, worker_id })
  if (tasks.length !== 1) throw new Error(`expected one task, was given ${tasks.length}`)
  return { worker_id, task_id: tasks[0]!.task_id, lease_id: tasks[0]!.lease_id }
}

/** A task in the hands of a worker. */
export async function hold(
  bench: Bench,
  task: NewTask = {},
  claim: Claim = {},
): Promise<Created & { holding: Holding }> {
  const created = await queue(bench, task)
  return { ...created, holding: await take(bench, claim) }
}

/** A task that has succeeded without a word on where its result is: its obligation is open. */
export async function succeedUnlocated(bench: Bench, task: NewTask = {}) {
  const held = await hold(bench, task)
  const completed = await bench.call('complete', { ...held.holding, result: { answer: 42 } })
  return { ...held, completed_id: completed.receipt_id }
}

export function ofType(receipts: Receipts, type: string): Receipts {
  return receipts.filter((receipt) => receipt.receipt_type === type)
}

export async function openIds(bench: Bench, who: object = {}): Promise<string[]> {
  const { open_obligations } = await bench.call('openObligations', { limit: 200, ...who })
  return open_obligations.map((receipt) => receipt.receipt_id)
}

/** Everything that a refused call must leave as it was. */
export async function everything(bench: Bench, task_id: string) {
  const { updated_at: _telemetry, ...task } = await bench.call('getTask', { task_id })
  return { task, receipts: await bench.receipts() }
}
