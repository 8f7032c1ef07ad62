// A whole gate without a network, on each store, under a clock that the test moves. Every test has a tenant of its own,
// so that tests of one file share a database without seeing each other.
import type { GateContract, GateError, Input, OperationKey, Output } from '@asyncgate/sdk'
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest'
import type { Caller } from '../../src/auth/caller.ts'
import { DEFAULT_SCOPES } from '../../src/auth/roles.ts'
import { type ConfigValues, configOf } from '../../src/config.ts'
import { type Gate, openGate } from '../../src/gate.ts'
import { createIds } from '../../src/ids.ts'
import { createLog } from '../../src/log.ts'
import type { Store } from '../../src/store/port.ts'
import { createSeededRandom } from '../seeded-random.ts'
import { openTestStore, type OpenedStore, STORE_KINDS, type StoreKind } from '../stores.ts'
import { createVirtualClock, type VirtualClock } from '../virtual-clock.ts'

export type Call = <K extends OperationKey>(
  key: K,
  input: Input<GateContract[K]>,
  options?: { caller?: Partial<Caller>; signal?: AbortSignal },
) => Promise<Output<GateContract[K]>>

export interface Bench {
  readonly gate: Gate
  readonly clock: VirtualClock
  readonly tenantId: string
  readonly call: Call
  /** The refusal, or a failure of the test when the call succeeds. */
  refusal(key: OperationKey, input: unknown, options?: { caller?: Partial<Caller> }): Promise<GateError>
  /** The receipts of a task (or all of the tenant), oldest first. */
  receipts(taskId?: string): Promise<Output<GateContract['listReceipts']>['receipts']>
  stop(): Promise<void>
}

let tenants = 0
let seeds = 0

/** Runs the suite once per store; `open` gives each test a gate of its own on the file's database. */
export function onEveryStore(
  name: string,
  suite: (
    open: (config?: ConfigValues) => Promise<Bench>,
    kind: StoreKind,
    store: () => Store,
    beside: () => Promise<Store>,
  ) => void,
): void {
  describe.each(STORE_KINDS)(`${name} on %s`, (kind) => {
    let opened: OpenedStore
    beforeAll(async () => {
      opened = await openTestStore(kind)
    })
    afterAll(() => opened.dispose())
    suite(
      (config) => openBench(opened.store, config),
      kind,
      () => opened.store,
      () => opened.beside(),
    )
  })
}

/** `shared`: a clock of its own, or what a second gate has in common with the first. */
export async function openBench(
  store: Store,
  values: ConfigValues = {},
  shared: { readonly clock?: VirtualClock; readonly tenantId?: string } = {},
): Promise<Bench> {
  const clock = shared.clock ?? createVirtualClock()
  const random = createSeededRandom(++seeds)
  const tenantId = shared.tenantId ?? `tenant-${process.pid}-${++tenants}`
  const config = configOf({ ...values, log: { level: 'silent' } })
  const gate = await openGate(config, {
    store: { ...store, close: async () => {} },
    clock,
    random,
    ids: createIds({ clock, random }),
    log: createLog(config),
  })
  // A sweep is everybody's, and its clock may be far ahead of the next test's.
  onTestFinished(() => gate.stop())
  const caller: Caller = {
    tenantId,
    principal: { kind: 'agent', id: 'default' },
    role: 'admin',
    scopes: new Set(DEFAULT_SCOPES.admin),
    speaksForAll: true,
  }
  const call: Call = async (key, input, options = {}) =>
    // The door is untyped by design; the contract ties the key to its reply.
    (await gate.dispatch(key, input, {
      caller: { ...caller, ...options.caller },
      ...(options.signal ? { signal: options.signal } : {}),
    })) as never
  return {
    gate,
    clock,
    tenantId,
    call,
    refusal: async (key, input, options = {}) => {
      try {
        await gate.dispatch(key, input, { caller: { ...caller, ...options.caller } })
      } catch (error) {
        return error as GateError // dispatch throws nothing else
      }
      throw new Error(`${key} was expected to be refused`)
    },
    receipts: async (taskId) =>
      (await call('listReceipts', { limit: 200, ...(taskId ? { task_id: taskId } : {}) })).receipts,
    stop: () => gate.stop(),
  }
}
