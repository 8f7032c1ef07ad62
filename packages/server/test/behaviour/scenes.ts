// What many behaviour tests begin with, look at, or wait for.
import type { GateContract, GateError, Input, OperationKey, Output } from '@asyncgate/sdk'
import { expect } from 'vitest'
import { DEFAULT_SCOPES } from '../../src/auth/roles.ts'
import type { ConfigValues } from '../../src/config.ts'
import type { Store } from '../../src/store/port.ts'
import { createVirtualClock, turns } from '../virtual-clock.ts'
import { type Bench, openBench } from './harness.ts'

export type Leased = Output<GateContract['leaseNext']>['tasks'][number]
type NewTask = Partial<Input<GateContract['createTask']>>
type Claim = Partial<Input<GateContract['leaseNext']>>

export const WORKER = 'w-1'
/** The test says when to sweep: the loop stays out of the way. */
export const BY_HAND = { lease: { sweep_interval_seconds: 3_600 } } as const
export const ERROR = { code: 'broken', message: 'It broke.' }

export function create(bench: Bench, fields: NewTask = {}) {
  return bench.call('createTask', { type: 'work', ...fields })
}

export async function createId(bench: Bench, fields: NewTask = {}): Promise<string> {
  return (await create(bench, fields)).task_id
}

export async function claim(bench: Bench, fields: Claim = {}): Promise<Leased[]> {
  return (await bench.call('leaseNext', { worker_id: WORKER, ...fields })).tasks
}

export async function claimOne(bench: Bench, fields: Claim = {}): Promise<Leased> {
  const [lease] = await claim(bench, fields)
  if (lease === undefined) throw new Error('there was nothing to claim')
  return lease
}

export async function claimedIds(bench: Bench, fields: Claim = {}): Promise<string[]> {
  return (await claim(bench, fields)).map((lease) => lease.task_id)
}

/** A task that somebody holds. */
export async function leased(bench: Bench, fields: NewTask = {}, claimed: Claim = {}): Promise<Leased> {
  const { task_id } = await create(bench, fields)
  const lease = await claimOne(bench, claimed)
  expect(lease.task_id).toBe(task_id)
  return lease
}

export function held({ task_id, lease_id }: Pick<Leased, 'task_id' | 'lease_id'>, worker_id = WORKER) {
  return { worker_id, task_id, lease_id }
}

export function task(bench: Bench, taskId: string) {
  return bench.call('getTask', { task_id: taskId })
}

export async function receiptTypes(bench: Bench, taskId: string): Promise<string[]> {
  return (await bench.receipts(taskId)).map((receipt) => receipt.receipt_type)
}

export async function anomalies(bench: Bench, taskId: string) {
  const receipts = await bench.receipts(taskId)
  return receipts.filter((receipt) => receipt.receipt_type === 'system.anomaly').map(({ body }) => body)
}

/** Its lease passes its end, a sweep finds it, and the jitter after it is over. */
export async function loseLease(bench: Bench, ttlMs = 300_000): Promise<void> {
  await bench.clock.advance(ttlMs)
  await bench.gate.sweep()
  await bench.clock.advance(5_000)
}

/** Everything that a refusal must leave as it was. */
export async function evidence(bench: Bench, taskId: string) {
  const { progress } = await bench.call('getProgress', { task_id: taskId })
  return { task: await task(bench, taskId), receipts: await bench.receipts(), progress }
}

export async function refusedWithoutTrace<K extends OperationKey>(
  bench: Bench,
  key: K,
  input: Input<GateContract[K]> & { readonly task_id: string },
): Promise<GateError> {
  const before = await evidence(bench, input.task_id)
  const refusal = await bench.refusal(key, input)
  expect(await evidence(bench, input.task_id)).toEqual(before)
  return refusal
}

/** A call with the credential of an agent of its own, instead of an administrator's. */
export function asAgent(id: string) {
  const scopes = new Set(DEFAULT_SCOPES.agent)
  const principal = { kind: 'agent' as const, id }
  return { caller: { principal, role: 'agent' as const, scopes, speaksForAll: false } }
}

/** Promises of a store that are still under way, so that a test can wait for them instead of for time. */
function watch(store: Store, underWay: Set<Promise<unknown>>): Store {
  const watched = Object.entries(store).map(([name, member]: [string, unknown]) => {
    if (typeof member !== 'function') return [name, member]
    return [
      name,
      (...args: unknown[]) => {
        const result: unknown = Reflect.apply(member, store, args)
        if (result instanceof Promise) {
          const ended = result.catch(() => {}).finally(() => underWay.delete(ended))
          underWay.add(ended)
        }
        return result
      },
    ]
  })
  return Object.fromEntries(watched) as Store // the same members, each wrapped
}

/** Gates of one tenant under one clock; as the clock moves, it waits for the I/O that its timers started. */
export async function openTimed(stores: readonly Store[], config: ConfigValues = {}): Promise<Bench[]> {
  const underWay = new Set<Promise<unknown>>()
  const settle = async () => {
    do {
      await Promise.all(underWay)
      await turns()
    } while (underWay.size > 0)
  }
  const clock = createVirtualClock(undefined, settle)
  const benches: Bench[] = []
  for (const store of stores) {
    const tenantId = benches[0]?.tenantId
    const shared = tenantId === undefined ? { clock } : { clock, tenantId }
    benches.push(await openBench(watch(store, underWay), config, shared))
  }
  return benches
}

/** Two servers on one database. */
export async function openTwo(
  first: Store,
  second: Store,
  config: ConfigValues = {},
): Promise<[Bench, Bench]> {
  const [one, other] = await openTimed([first, second], config)
  return [one!, other!]
}

/** Resolves once that many claims wait on this gate. */
export async function untilWaiting(bench: Bench, count = 1): Promise<void> {
  while (bench.gate.engine.waitingClaims() < count) await turns()
}

/** What a call answers without time passing any further: hints travel by real I/O. */
export async function arrival<T>(bench: Bench, call: Promise<T>): Promise<T> {
  const pending = new Set([call])
  const settled = () => pending.delete(call)
  call.then(settled, settled)
  while (pending.size > 0) await bench.clock.advance(0)
  return call
}
