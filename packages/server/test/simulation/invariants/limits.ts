// Active leases never exceed what a concurrency key, a worker's capacity or the tenant allows.
import type { State } from '../state.ts'

export interface Limits {
  /** Workers that declare a capacity declare the same one at every claim. */
  readonly capacities: ReadonlyMap<string, number>
  /** 0 = no limit. */
  readonly tenantLeasesMax: number
}

export function* limitProblems({ tasks }: State, limits: Limits): Generator<string> {
  const keys = new Map<string, { active: number; limit: number }>()
  const workers = new Map<string, number>()
  let all = 0
  for (const { definition, lease } of tasks.values()) {
    if (lease === null) continue
    all += 1
    workers.set(lease.worker.id, (workers.get(lease.worker.id) ?? 0) + 1)
    const { concurrencyKey, concurrencyLimit } = definition
    if (concurrencyKey === null) continue
    const active = (keys.get(concurrencyKey)?.active ?? 0) + 1
    keys.set(concurrencyKey, { active, limit: concurrencyLimit! })
  }
  for (const [key, { active, limit }] of keys) {
    if (active > limit) yield `${active} leases under ${key}, whose limit is ${limit}`
  }
  for (const [worker, active] of workers) {
    const capacity = limits.capacities.get(worker) ?? Infinity
    if (active > capacity) yield `${worker} holds ${active} leases, its capacity is ${capacity}`
  }
  if (limits.tenantLeasesMax > 0 && all > limits.tenantLeasesMax) {
    yield `${all} active leases, the tenant may have ${limits.tenantLeasesMax}`
  }
}
