// Why is it not running? The reasons, in the order in which they would have to be removed.
import { iso } from '../clock.ts'
import { isTerminal, type Lease, type Task, type TaskStatus } from './model.ts'
import type { RecentWorker } from './recent-workers.ts'
import { typeOfKey } from './type-limit.ts'

export interface Reason {
  readonly reason: string
  readonly message: string
  readonly [detail: string]: unknown
}

export interface Circumstances {
  readonly now: number
  readonly lease: Lease | null
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
  if (isTerminal(state.status)) {
    return unclaimable([
      { reason: 'terminal', message: `It has ended: ${state.status}.`, status: state.status },
    ])
  }
  if (state.status !== 'queued') return unclaimable([held(task, seen.lease)])
  const hindrances = [waitsFor(task, seen), notYet(task, seen), crowded(task, seen), tenantFull(seen)].flat()
  if (hindrances.length > 0) return unclaimable(hindrances)
  return { claimable: true, reasons: [missingWorker(task, seen.workers)] }
}

function unclaimable(reasons: readonly Reason[]) {
  return { claimable: false, reasons }
}

function held({ state }: Task, lease: Lease | null): Reason {
  const message = `It is ${state.status}: a worker holds it.`
  if (lease === null) return { reason: state.status, message }
  return { reason: state.status, message, worker_id: lease.worker.id, expires_at: iso(lease.expiresAt) }
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

function notYet({ state, definition }: Task, { now }: Circumstances): Reason[] {
  if (state.nextEligibleAt <= now) return []
  const because = state.attempt > 0 ? 'backoff' : state.expiries > 0 ? 'expiry' : 'delay'
  return [
    {
      reason: 'delayed',
      message: `It may be leased from ${iso(state.nextEligibleAt)} on (${because}).`,
      because,
      next_eligible_at: iso(state.nextEligibleAt),
      attempt: state.attempt,
      max_attempts: definition.maxAttempts,
    },
  ]
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
    const message = `It is ready, but none of the ${workers.length} workers seen lately takes type "${definition.type}".`
    return { reason: 'type', message, ...facts }
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
