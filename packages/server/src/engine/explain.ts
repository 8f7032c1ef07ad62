// Why is it not running? The reasons, in the order in which they would have to be removed.
import { iso } from '../clock.ts'
import { isTerminal, type JsonObject, type Lease, type Task, type TaskStatus } from './model.ts'
import type { RecentWorker } from './recent-workers.ts'
import { typeOfKey } from './type-limit.ts'

/** The whole error is beside the message. */
const ERROR_LENGTH_MAX = 200
/** Types that a message names, and that stand beside it. */
const NAMED_MAX = 10
const TYPES_TAKEN_MAX = 100

export interface Reason {
  readonly reason: string
  readonly message: string
  readonly [detail: string]: unknown
}

export interface Circumstances {
  readonly now: number
  /** Of a task that has ended. */
  readonly obligationIsOpen: boolean
  readonly lease: Lease | null
  /** What the last attempt failed with, where it is to be tried again. */
  readonly lastError: JsonObject | null
  readonly dependencies: readonly { readonly taskId: string; readonly status: TaskStatus }[]
  readonly activeUnderKey: number
  /** Of leases of its type, where that is what bounds it. */
  readonly typeLimit: number | null
  readonly workers: readonly RecentWorker[]
  /** null: the tenant has no limit. */
  readonly tenantLeases: { readonly active: number; readonly limit: number } | null
}

export function explain(task: Task, seen: Circumstances): { claimable: boolean; reasons: readonly Reason[] } {
  const { state } = task
  if (isTerminal(state.status)) return unclaimable([ended(state.status, seen.obligationIsOpen)])
  if (state.status !== 'queued') return unclaimable([held(task, seen.lease)])
  const hindrances = [waitsFor(task, seen), notYet(task, seen), crowded(task, seen), tenantFull(seen)].flat()
  if (hindrances.length > 0) return unclaimable(hindrances)
  return { claimable: true, reasons: [missingWorker(task, seen.workers)] }
}

function unclaimable(reasons: readonly Reason[]) {
  return { claimable: false, reasons }
}

function ended(status: TaskStatus, obligationIsOpen: boolean): Reason {
  const end = { reason: 'terminal', message: `It has ended: ${status}.`, status }
  if (!obligationIsOpen) return end
  const message =
    `${end.message} Its obligation is still open, since the completion did not say where the result is: ` +
    'say so with attach_artifacts. (Complete with store_result: true, or with artifacts that name a place.)'
  return { ...end, message, obligation: 'open' }
}

function held({ state }: Task, lease: Lease | null): Reason {
  const reason = state.status
  if (lease === null)
    return { reason, message: 'A worker is at work on it. Nothing hinders it: wait for its end.' }
  const expires_at = iso(lease.expiresAt)
  const does = reason === 'running' ? 'is at work on it' : 'was given it and has not reported yet'
  const message =
    `Worker "${lease.worker.id}" ${does}. Nothing hinders it: wait for its end. If the worker were gone, ` +
    `the task would be given to another one after ${expires_at}, when its lease ends unless it is renewed.`
  return { reason, message, worker_id: lease.worker.id, expires_at }
}

function waitsFor({ state }: Task, { dependencies }: Circumstances): Reason[] {
  if (state.place !== 'waiting') return []
  const open = dependencies.filter((on) => !isTerminal(on.status))
  return [
    {
      reason: 'dependency',
      message: `It waits for ${open.length} of the tasks it depends on.`,
      dependencies: open.map((on) => ({ task_id: on.taskId, status: on.status })),
    },
  ]
}

function notYet({ state, definition }: Task, { now, lastError }: Circumstances): Reason[] {
  if (state.nextEligibleAt <= now) return []
  const because = state.attempt > 0 ? 'backoff' : state.expiries > 0 ? 'expiry' : 'delay'
  const failed = `Attempt ${state.attempt} of ${definition.maxAttempts} failed${errorText(lastError)}. `
  return [
    {
      reason: 'delayed',
      message: `${because === 'backoff' ? failed : ''}It may be leased from ${iso(state.nextEligibleAt)} on (${because}).`,
      because,
      next_eligible_at: iso(state.nextEligibleAt),
      attempt: state.attempt,
      max_attempts: definition.maxAttempts,
      ...(because === 'backoff' && lastError !== null && { last_error: lastError }),
    },
  ]
}

function errorText(error: JsonObject | null): string {
  return error === null
    ? ''
    : ` (${String(error['code'])}: ${String(error['message']).slice(0, ERROR_LENGTH_MAX)})`
}

function crowded({ definition }: Task, { activeUnderKey, typeLimit }: Circumstances): Reason[] {
  const { type, concurrencyKey, concurrencyLimit } = definition
  if (typeOfKey(concurrencyKey) !== null) return typeFull({ type, limit: typeLimit, active: activeUnderKey })
  if (concurrencyKey === null || concurrencyLimit === null || activeUnderKey < concurrencyLimit) return []
  return [
    {
      reason: 'concurrency_limit',
      message: `${activeUnderKey} of ${concurrencyLimit} leases under concurrency key "${concurrencyKey}" are in use.`,
      concurrency_key: concurrencyKey,
      limit: concurrencyLimit,
      active: activeUnderKey,
    },
  ]
}

function typeFull(of: { type: string; limit: number | null; active: number }): Reason[] {
  if (of.limit === null || of.active < of.limit) return []
  const message = `${of.active} of ${of.limit} leases that tasks of type "${of.type}" may have at one time are in use.`
  return [{ reason: 'type_limit', message, ...of }]
}

function tenantFull({ tenantLeases }: Circumstances): Reason[] {
  if (tenantLeases === null || tenantLeases.active < tenantLeases.limit) return []
  const message = `All ${tenantLeases.limit} leases that this tenant may have are in use.`
  return [{ reason: 'tenant_limit', message, ...tenantLeases }]
}

/** Nothing hinders it but that no worker took it: what would one need, and who was seen? */
function missingWorker({ definition }: Task, workers: readonly RecentWorker[]): Reason {
  const required = definition.capabilities.map((capability) => capability.toLowerCase())
  const facts = { type: definition.type, required_capabilities: required, workers_seen: workers.length }
  if (workers.length === 0) {
    const having = required.length === 0 ? '' : ` and has ${required.join(', ')}`
    const message = `It is ready, but no worker has asked for work lately. Start one that takes "${definition.type}"${having}.`
    return { reason: 'no_worker', message, missing_capabilities: required, ...facts }
  }
  const taking = workers.filter(
    ({ acceptTypes }) => acceptTypes === null || acceptTypes.includes(definition.type),
  )
  if (taking.length === 0) {
    const known = [...new Set(workers.flatMap(({ acceptTypes }) => acceptTypes ?? []))].toSorted()
    const message =
      `It is ready, but none of the ${workers.length} workers seen lately takes type "${definition.type}". ` +
      `Start one that does, or cancel it and create it anew if the type is mistyped; they take: ${known.slice(0, NAMED_MAX).join(', ') || 'nothing'}.`
    return { reason: 'type', message, ...facts, types_taken: known.slice(0, TYPES_TAKEN_MAX) }
  }
  const missing = fewestMissing(required, taking)
  if (missing.length > 0) {
    const message = `It is ready, but no worker seen lately has all it requires; missing: ${missing.join(', ')}.`
    return { reason: 'capability', message, missing_capabilities: missing, ...facts }
  }
  return { reason: 'ready', message: 'It is ready and will be given to the next worker that fits.', ...facts }
}

function fewestMissing(required: readonly string[], workers: readonly RecentWorker[]): string[] {
  const gaps = workers.map(({ capabilities }) => required.filter((name) => !capabilities.includes(name)))
  return gaps.toSorted((a, b) => a.length - b.length)[0] ?? []
}
