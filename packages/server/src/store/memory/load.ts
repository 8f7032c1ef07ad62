// Loading in the memory store: the same snapshot that the SQL stores read.
import type { Lease, Receipt, Task } from '../../engine/model.ts'
import { keyOfType } from '../../engine/type-limit.ts'
import type { Needs, Snapshot } from '../../engine/unit.ts'
import type { Tenant } from './tenant.ts'

export function load(tenant: Tenant, needs: Needs, now: number): Snapshot {
  const promoted = needs.claims.length > 0 ? promoteDue(tenant, now) : new Set<string>()
  const candidates = new Map(
    needs.claims.map(
      ({ filterKey, filter, count }) => [filterKey, tenant.ready.select(filter, count)] as const,
    ),
  )
  const idempotent = pick(tenant.idempotent, needs.idempotencyHashes)
  const wanted = [
    ...needs.taskIds,
    ...needs.peekedTaskIds,
    ...idempotent.values(),
    ...[...candidates.values()].flatMap((found) => found.taskIds),
  ]
  const tasks = pick(tenant.tasks, wanted)
  const parked = parkedHeads(tenant, new Set([...needs.concurrencyKeys, ...keysOf(tasks.values())]))
  for (const taskId of [...parked.values()].flat()) tasks.set(taskId, tenant.tasks.get(taskId)!)
  const active = activeLeases(tenant)
  return {
    tasks,
    leases: loadLeases(tenant, needs),
    idempotent,
    knowsKeys: true,
    ...loadReceipts(tenant, needs, tasks),
    candidates,
    activeByKey: countBy(active, (lease) => lease.concurrencyKey),
    activeByWorker: countBy(active, (lease) => lease.worker.id),
    activeOfTenant: active.length,
    typeLimits: limitsOf(tenant),
    activeTasks: needs.activeTasksMax === null ? 0 : tenant.usage.activeTasks,
    parked,
    promoted,
  }
}

function promoteDue(tenant: Tenant, now: number): Set<string> {
  const promoted = new Set<string>()
  for (const taskId of tenant.delayed) {
    const task = tenant.tasks.get(taskId)!
    if (task.state.nextEligibleAt > now) continue
    const ready: Task = { ...task, state: { ...task.state, place: 'ready' } }
    tenant.delayed.delete(taskId)
    tenant.tasks.set(taskId, ready)
    tenant.ready.add(ready)
    promoted.add(taskId)
  }
  return promoted
}

function loadLeases(tenant: Tenant, needs: Needs): Map<string, Lease> {
  const active = [...needs.taskIds].flatMap((taskId) => tenant.activeLease.get(taskId) ?? [])
  return pick(tenant.leases, [...needs.leaseIds, ...active])
}

function loadReceipts(tenant: Tenant, needs: Needs, tasks: ReadonlyMap<string, Task>) {
  const owed = [...needs.obligationsOf].flatMap((taskId) => tasks.get(taskId) ?? [])
  const obligations = pick(
    tenant.obligations,
    owed.map((task) => task.definition.assignedReceiptId),
  )
  const evidence = [...owed.map((task) => task.state.terminalReceiptId), ...obligations.values()]
  const receiptIds = [...needs.receiptIds, ...evidence.filter((receiptId) => receiptId !== null)]
  return {
    obligations,
    receipts: new Map(receiptIds.flatMap((receiptId) => entry(tenant, receiptId))),
    receiptsByKey: new Map(
      [...needs.receiptKeys].flatMap((key) => {
        const receipt = receiptOf(tenant, tenant.byKey.get(key))
        return receipt === undefined ? [] : [[key, receipt] as const]
      }),
    ),
  }
}

function entry(tenant: Tenant, receiptId: string): [string, Receipt][] {
  const receipt = receiptOf(tenant, receiptId)
  return receipt === undefined ? [] : [[receiptId, receipt]]
}

export function receiptOf(tenant: Tenant, receiptId: string | undefined): Receipt | undefined {
  const position = receiptId === undefined ? undefined : tenant.positions.get(receiptId)
  return position === undefined ? undefined : tenant.ledger[position]
}

function keysOf(tasks: Iterable<Task>): string[] {
  return [...tasks].flatMap((task) => task.definition.concurrencyKey ?? [])
}

function parkedHeads(tenant: Tenant, keys: ReadonlySet<string>): Map<string, string[]> {
  const heads = new Map<string, string[]>()
  if (keys.size === 0) return heads
  const tasks = [...tenant.parked].map((taskId) => tenant.tasks.get(taskId)!)
  tasks.sort(
    (a, b) =>
      b.definition.priority - a.definition.priority || (a.definition.taskId < b.definition.taskId ? -1 : 1),
  )
  for (const { definition } of tasks) {
    if (definition.concurrencyKey === null || !keys.has(definition.concurrencyKey)) continue
    heads.set(definition.concurrencyKey, [...(heads.get(definition.concurrencyKey) ?? []), definition.taskId])
  }
  return heads
}

export function activeLeases(tenant: Tenant): Lease[] {
  return [...tenant.activeLease.values()].map((leaseId) => tenant.leases.get(leaseId)!)
}

function limitsOf({ types }: Tenant): Map<string, number> {
  const limits = new Map<string, number>()
  for (const { type, maxConcurrent } of types.values()) {
    if (maxConcurrent !== null) limits.set(keyOfType(type), maxConcurrent)
  }
  return limits
}

function countBy(leases: readonly Lease[], key: (lease: Lease) => string | null): Map<string, number> {
  const counts = new Map<string, number>()
  for (const lease of leases) {
    const name = key(lease)
    if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

function pick<V>(all: ReadonlyMap<string, V>, ids: Iterable<string>): Map<string, V> {
  const found = new Map<string, V>()
  for (const id of ids) {
    const value = all.get(id)
    if (value !== undefined) found.set(id, value)
  }
  return found
}
