// Concurrency keys: how many leases are active under each, and which parked tasks could come next.
import type { Lease, Task } from '../../engine/model.ts'
import { isActive } from '../../engine/model.ts'
import { keyOfType, typeOfKey } from '../../engine/type-limit.ts'
import type { Loading } from './load.ts'
import { lockWaiting } from './lock-tasks.ts'
import { activeByKey } from './statements/leased.ts'
import { typeLimits } from './statements/task-types.ts'

export interface Keys {
  readonly activeByKey: ReadonlyMap<string, number>
  readonly typeLimits: ReadonlyMap<string, number>
  readonly parked: ReadonlyMap<string, readonly string[]>
  readonly parkedTasks: readonly Task[]
  /** Keys of candidates that another transaction is counting: their tasks are left to the next claim. */
  readonly busy: ReadonlySet<string>
}

const NONE: Keys = {
  activeByKey: new Map(),
  typeLimits: new Map(),
  parked: new Map(),
  parkedTasks: [],
  busy: new Set(),
}

/** What one commit moves at most when a type has no limit any more. */
const UNLIMITED_HEADS = 1_000

export async function loadKeys(
  { driver, tx, tenantId, needs }: Loading,
  of: { locked: readonly Task[]; offered: readonly Task[]; leases: ReadonlyMap<string, Lease> },
): Promise<Keys> {
  const held = new Set([...needs.concurrencyKeys, ...keysOf(of.locked)])
  const tried = keysOf(of.offered).filter((key) => !held.has(key))
  const keys = [...held, ...tried]
  if (keys.length === 0) return NONE
  const types = keys.flatMap((key) => typeOfKey(key) ?? [])
  const limits = new Map(
    (await typeLimits(tx, tenantId, types)).map((row) => [keyOfType(row.type), row.max_concurrent]),
  )
  const rooms = keys.map((concurrencyKey) => ({
    concurrencyKey,
    ending: countActive(of.leases, concurrencyKey) + countParked(of.locked, concurrencyKey),
    limit: typeOfKey(concurrencyKey) === null ? null : (limits.get(concurrencyKey) ?? UNLIMITED_HEADS),
  }))
  const [gained, counts, heads] = await Promise.all([
    driver.tryHoldKeys(tx, tenantId, tried),
    activeByKey(tx, tenantId, keys),
    driver.parkedHeads(tx, tenantId, rooms),
  ])
  const busy = new Set(tried.filter((key) => !gained.has(key)))
  // Whoever locks a parked task by its id holds its key first, so this does not wait; under a busy key it
  // might.
  const next = heads.filter((head) => !busy.has(head.concurrency_key)).map((head) => head.task_id)
  const parkedTasks = await lockWaiting(tx, tenantId, next.toSorted())
  return {
    activeByKey: new Map(counts.map(({ name, active }) => [name, active])),
    typeLimits: limits,
    parked: byKey(parkedTasks),
    parkedTasks,
    busy,
  }
}

function keysOf(tasks: readonly Task[]): string[] {
  return [...new Set(tasks.flatMap(({ definition }) => definition.concurrencyKey ?? []))]
}

function countActive(leases: ReadonlyMap<string, Lease>, key: string): number {
  let count = 0
  for (const lease of leases.values()) if (lease.concurrencyKey === key && isActive(lease)) count += 1
  return count
}

/** Parked tasks that this transaction may end, and so take from among the heads. */
function countParked(tasks: readonly Task[], key: string): number {
  return tasks.filter(
    ({ definition, state }) => definition.concurrencyKey === key && state.place === 'parked',
  ).length
}

/** Best first. */
function byKey(tasks: readonly Task[]): Map<string, string[]> {
  const parked = new Map<string, string[]>()
  const best = tasks.toSorted(
    (a, b) =>
      b.definition.priority - a.definition.priority || (a.definition.taskId < b.definition.taskId ? -1 : 1),
  )
  for (const { definition } of best) {
    const key = definition.concurrencyKey ?? ''
    parked.set(key, [...(parked.get(key) ?? []), definition.taskId])
  }
  return parked
}
