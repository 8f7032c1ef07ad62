// Writing in the memory store: applies a whole batch, after checking what unique indexes would refuse.
import assert from 'node:assert/strict'
import { discharges, isRepeatable, opensObligation, receiptKey } from '../../engine/ledger.ts'
import { isActive, type Lease, type Receipt, type Sighting, type Task } from '../../engine/model.ts'
import type { Changes } from '../../engine/unit.ts'
import { type Usage, usageOf } from '../../engine/usage.ts'
import type { Tenant } from './tenant.ts'

export function write(tenant: Tenant, changes: Changes): void {
  for (const task of changes.createdTasks) create(tenant, task)
  for (const { before, after } of changes.changedTasks) replace(tenant, before, after)
  // Ends come first: a task's next lease may be granted in the batch that ended the one before.
  for (const lease of changes.changedLeases) changeLease(tenant, lease)
  for (const lease of changes.grantedLeases) grantLease(tenant, lease)
  for (const receipt of changes.receipts) append(tenant, receipt)
  for (const report of changes.progress) {
    const history = tenant.progress.get(report.taskId) ?? []
    tenant.progress.set(report.taskId, [...history, { ...report, position: history.length + 1 }])
  }
  for (const timer of changes.timers) tenant.timers.set(`${timer.kind}:${timer.taskId}`, timer)
  for (const timer of changes.firedTimers) tenant.timers.delete(`${timer.kind}:${timer.taskId}`)
  writeDependencies(tenant, changes)
  for (const sighting of changes.sightings) see(tenant, sighting)
  use(tenant, usageOf(changes))
}

function use(tenant: Tenant, { activeTasks, receiptBytes }: Usage): void {
  tenant.usage = {
    activeTasks: tenant.usage.activeTasks + activeTasks,
    receiptBytes: tenant.usage.receiptBytes + receiptBytes,
  }
}

function create(tenant: Tenant, task: Task): void {
  const { taskId, idempotencyHash } = task.definition
  assert(!tenant.tasks.has(taskId), 'a task is created once')
  if (idempotencyHash !== null) {
    assert(!tenant.idempotent.has(idempotencyHash), 'an idempotency key names one task')
    tenant.idempotent.set(idempotencyHash, taskId)
  }
  tenant.tasks.set(taskId, task)
  enter(tenant, task)
}

function replace(tenant: Tenant, before: Task, after: Task): void {
  leave(tenant, before)
  tenant.tasks.set(after.definition.taskId, after)
  enter(tenant, after)
}

function leave(tenant: Tenant, task: Task): void {
  const { taskId } = task.definition
  if (task.state.place === 'ready') tenant.ready.remove(task)
  tenant.delayed.delete(taskId)
  tenant.parked.delete(taskId)
}

function enter(tenant: Tenant, task: Task): void {
  const { taskId } = task.definition
  if (task.state.place === 'ready') tenant.ready.add(task)
  if (task.state.place === 'delayed') tenant.delayed.add(taskId)
  if (task.state.place === 'parked') tenant.parked.add(taskId)
}

function grantLease(tenant: Tenant, lease: Lease): void {
  tenant.leases.set(lease.leaseId, lease)
  if (!isActive(lease)) return
  assert(!tenant.activeLease.has(lease.taskId), 'a task has at most one active lease')
  tenant.activeLease.set(lease.taskId, lease.leaseId)
}

function changeLease(tenant: Tenant, lease: Lease): void {
  tenant.leases.set(lease.leaseId, lease)
  if (!isActive(lease) && tenant.activeLease.get(lease.taskId) === lease.leaseId) {
    tenant.activeLease.delete(lease.taskId)
  }
}

function append(tenant: Tenant, receipt: Receipt): void {
  if (isRepeatable(receipt.receiptType)) {
    const key = receiptKey(receipt, receipt.hash)
    assert(!tenant.byKey.has(key), 'a fact is recorded once')
    tenant.byKey.set(key, receipt.receiptId)
  }
  tenant.positions.set(receipt.receiptId, tenant.ledger.length)
  tenant.ledger.push(receipt)
  if (opensObligation(receipt.receiptType)) tenant.obligations.set(receipt.receiptId, null)
  for (const parent of receipt.parents) {
    const obligation = tenant.ledger[tenant.positions.get(parent) ?? -1]
    if (obligation === undefined || !discharges(receipt.receiptType, obligation.receiptType)) continue
    if (tenant.obligations.get(parent) === null) tenant.obligations.set(parent, receipt.receiptId)
  }
}

function writeDependencies(tenant: Tenant, changes: Changes): void {
  for (const { taskId, dependsOn } of changes.dependencies) {
    const open = tenant.dependencies.get(taskId) ?? new Map<string, boolean>()
    tenant.dependencies.set(taskId, open.set(dependsOn, false))
  }
  for (const ended of changes.endedDependencies) {
    for (const open of tenant.dependencies.values()) if (open.has(ended)) open.set(ended, true)
  }
  for (const taskId of changes.settledDependents) tenant.dependencies.delete(taskId)
}

/** Without an instance id, half an hour of silence makes a new session. */
const SESSION_SILENCE_MS = 30 * 60 * 1_000

function see(tenant: Tenant, { principal, instanceId, at }: Sighting): void {
  const key = `${principal.kind}/${principal.id}`
  const known = tenant.principals.get(key)
  if (known === undefined) {
    tenant.principals.set(key, { principal, instanceId, firstSeenAt: at, lastSeenAt: at, sessionsCount: 1 })
    return
  }
  const isNew =
    instanceId === null ? at - known.lastSeenAt > SESSION_SILENCE_MS : instanceId !== known.instanceId
  tenant.principals.set(key, {
    ...known,
    instanceId: instanceId ?? known.instanceId,
    lastSeenAt: Math.max(at, known.lastSeenAt),
    sessionsCount: known.sessionsCount + Number(isNew),
  })
}
