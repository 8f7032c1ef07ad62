// What every decision is made with, and the few steps that several decisions share.
import { GateError } from '@asyncgate/sdk'
import type { Ids, Random } from '../../ids.ts'
import type { Actor, Holding } from '../command.ts'
import type { Outcome, View } from '../draft.ts'
import { assertWithinLimits, type Fact, issueReceipt } from '../ledger.ts'
import {
  isAlive,
  type JsonObject,
  type Lease,
  type LeaseEnd,
  type Place,
  type Principal,
  type Receipt,
  samePrincipal,
  type Task,
  type TaskState,
} from '../model.ts'
import type { Policy } from '../policy.ts'
import { leaseLost } from '../state-table.ts'

export interface Context {
  readonly tenantId: string
  /** One clock per batch, read once everything that it waits for is there. */
  readonly now: number
  readonly ids: Ids
  readonly random: Random
  readonly policy: Policy
  readonly instance: string
}

export type Decide<C> = (view: View, command: C, context: Context) => Outcome

export function knownTask(view: View, taskId: string): Task {
  const task = view.task(taskId)
  if (task === undefined) throw noSuchTask(taskId)
  return task
}

export function noSuchTask(taskId: string): GateError {
  return new GateError('not_found', `No task ${taskId}. Check the id, or list your tasks.`)
}

/** A task of somebody else is answered like one that never was. */
export function ownTask(view: View, taskId: string, actor: Actor): Task {
  const task = knownTask(view, taskId)
  if (!mayTouch(task, actor)) throw noSuchTask(taskId)
  return task
}

export function mayTouch(task: Task, actor: Actor): boolean {
  const { createdBy, recipient } = task.definition
  return (
    actor.sees === 'all' ||
    samePrincipal(createdBy, actor.principal) ||
    samePrincipal(recipient, actor.principal)
  )
}

/** The task and the live lease that authorises the command, or the refusal that LEASE-4 prescribes. */
export function heldLease(view: View, holding: Holding, now: number): { task: Task; lease: Lease } {
  const task = knownTask(view, holding.taskId)
  const lease = view.lease(holding.leaseId)
  if (lease === undefined || !holds(lease, holding) || !isAlive(lease, now) || isPastDeadline(task, now)) {
    throw leaseLost(task.state.status)
  }
  return { task, lease }
}

export function holds(lease: Lease, holding: Holding): boolean {
  return lease.taskId === holding.taskId && samePrincipal(lease.worker, holding.worker)
}

export function isPastDeadline(task: Task, now: number): boolean {
  return task.definition.deadlineAt !== null && task.definition.deadlineAt <= now
}

export function withState(task: Task, now: number, change: Partial<TaskState>): Task {
  return { definition: task.definition, state: { ...task.state, ...change, updatedAt: now } }
}

export function ended(lease: Lease, now: number, end: LeaseEnd): Lease {
  return { ...lease, endedAt: now, end }
}

/** Where a queued task without open dependencies belongs; `leaving` counts its own lease that is about to end. */
export function placeFor(
  view: View,
  task: Pick<Task, 'definition'>,
  { eligibleAt, now, leaving = 0 }: { eligibleAt: number; now: number; leaving?: number },
): Place {
  if (eligibleAt > now) return 'delayed'
  return hasRoom(view, task, leaving) ? 'ready' : 'parked'
}

export function hasRoom(view: View, { definition }: Pick<Task, 'definition'>, leaving = 0): boolean {
  if (definition.concurrencyKey === null) return true
  return view.activeByKey(definition.concurrencyKey) - leaving < view.limitOf(definition)
}

export function issue(
  context: Context,
  fact: Fact,
  receiptId: string = context.ids.next(context.now),
): Receipt {
  const receipt = issueReceipt(fact, {
    receiptId,
    tenantId: context.tenantId,
    now: context.now,
    instance: context.instance,
  })
  assertWithinLimits(fact, context.policy, receipt.bodyBytes)
  return receipt
}

/** What a receipt says of a task; parents default to the obligation that it belongs to. */
export interface TaskFact {
  readonly receiptType: string
  readonly from: Principal
  readonly to: Principal
  readonly body: JsonObject
  readonly leaseId?: string
  readonly parents?: readonly string[]
}

export function factFor({ definition }: Task, fact: TaskFact): Fact {
  return {
    receiptType: fact.receiptType,
    from: fact.from,
    to: fact.to,
    body: fact.body,
    taskId: definition.taskId,
    leaseId: fact.leaseId ?? null,
    scheduleId: null,
    parents: fact.parents ?? [definition.assignedReceiptId],
  }
}

/** A receipt about a task; its id may be known before. */
export function issueFor(context: Context, task: Task, fact: TaskFact & { receiptId?: string }): Receipt {
  return issue(context, factFor(task, fact), fact.receiptId)
}
