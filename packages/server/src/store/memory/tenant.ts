// Everything that the memory store remembers of one tenant.
import type { Lease, Receipt, Relationship, Task, Timer } from '../../engine/model.ts'
import { NOTHING_USED, type Usage } from '../../engine/usage.ts'
import type { Numbered } from '../port.ts'
import type { TaskType } from '../task-types.ts'
import { createReadySet, type ReadySet } from './ready-set.ts'
import type { ProgressReport } from '../../engine/model.ts'

export interface Tenant {
  readonly tasks: Map<string, Task>
  readonly idempotent: Map<string, string>
  readonly ready: ReadySet
  readonly delayed: Set<string>
  readonly parked: Set<string>
  readonly leases: Map<string, Lease>
  readonly activeLease: Map<string, string>
  /** Index = position. */
  readonly ledger: Receipt[]
  readonly positions: Map<string, number>
  readonly byKey: Map<string, string>
  readonly obligations: Map<string, string | null>
  readonly progress: Map<string, Numbered<ProgressReport>[]>
  readonly timers: Map<string, Timer>
  /** dependent → dependency → due. */
  readonly dependencies: Map<string, Map<string, boolean>>
  readonly principals: Map<string, Relationship & { readonly instanceId: string | null }>
  readonly types: Map<string, TaskType>
  readonly settings: { registeredOnly: boolean }
  usage: Usage
}

export function createTenant(): Tenant {
  return {
    tasks: new Map(),
    idempotent: new Map(),
    ready: createReadySet(),
    delayed: new Set(),
    parked: new Set(),
    leases: new Map(),
    activeLease: new Map(),
    ledger: [],
    positions: new Map(),
    byKey: new Map(),
    obligations: new Map(),
    progress: new Map(),
    timers: new Map(),
    dependencies: new Map(),
    principals: new Map(),
    types: new Map(),
    settings: { registeredOnly: false },
    usage: NOTHING_USED,
  }
}
