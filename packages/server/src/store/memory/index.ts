// The memory store: the simulation's, the oracle of the others, and `database.url: memory:` for a quick try.
import { discharges } from '../../engine/ledger.ts'
import { isEmpty } from '../../engine/unit.ts'
import type { TaskStatus } from '../../engine/model.ts'
import type { Dependent, Hint, Stats, Store } from '../port.ts'
import { createMemoryAccounts } from './accounts.ts'
import { createMemoryAudit } from './audit.ts'
import { createMemoryClients } from './clients.ts'
import { createMemoryKeys } from './keys.ts'
import { activeLeases, load } from './load.ts'
import { type Artifacts, createMemoryOAuth, removeWhere } from './oauth.ts'
import { listReceipts, listTasks, openObligations, positioned, viewTask } from './read.ts'
import { createMemoryResults } from './results.ts'
import { createMemoryTaskTypes } from './task-types.ts'
import { createTenant, type Tenant } from './tenant.ts'
import { createMemoryTenants } from './tenants.ts'
import { write } from './write.ts'

export function createMemoryStore(): Store {
  const tenants = new Map<string, Tenant>()
  const tenantNames = createMemoryTenants()
  const keys = createMemoryKeys(tenantNames)
  const artifacts: Artifacts = new Map()
  const accounts = createMemoryAccounts({
    ...tenantNames,
    endAccess: (accountId) => removeWhere(artifacts, (artifact) => artifact.accountId === accountId),
  })
  const clients = createMemoryClients()
  const listeners = new Set<(hint: Hint) => void>()

  function tenantOf(tenantId: string): Tenant {
    let tenant = tenants.get(tenantId)
    if (tenant === undefined) {
      tenant = createTenant()
      tenants.set(tenantId, tenant)
    }
    return tenant
  }

  return {
    kind: 'memory',
    commitsAtOnce: 1,
    transact: async ({ tenantId, now, needs, decide }) => {
      const tenant = tenantOf(tenantId)
      const { changes, result } = decide(load(tenant, needs, now))
      if (!isEmpty(changes)) write(tenant, changes)
      return result
    },
    readTask: async (tenantId, taskId) => {
      const tenant = tenantOf(tenantId)
      const task = tenant.tasks.get(taskId)
      return task === undefined ? null : viewTask(tenant, task)
    },
    listTasks: async (query) => listTasks(tenantOf(query.tenantId), query),
    listProgress: async ({ tenantId, taskId, after, limit }) =>
      (tenantOf(tenantId).progress.get(taskId) ?? [])
        .filter((report) => report.position > (after ?? 0))
        .slice(0, limit),
    readReceipt: async (tenantId, receiptId) => positioned(tenantOf(tenantId), receiptId),
    readReceipts: async (tenantId, receiptIds) =>
      receiptIds.flatMap((receiptId) => positioned(tenantOf(tenantId), receiptId) ?? []),
    listReceipts: async (query) => listReceipts(tenantOf(query.tenantId), query),
    openObligations: async (query) => openObligations(tenantOf(query.tenantId), query),
    dischargedBy: async (tenantId, receiptId) => tenantOf(tenantId).obligations.get(receiptId),
    readRelationship: async (tenantId, { kind, id }) =>
      tenantOf(tenantId).principals.get(`${kind}/${id}`) ?? null,
    countActive: async (tenantId, key) =>
      activeLeases(tenantOf(tenantId)).filter((lease) => key === null || lease.concurrencyKey === key).length,
    dueLeases: async (now, limit, after = 0) =>
      [...tenants]
        .flatMap(([tenantId, tenant]) =>
          activeLeases(tenant)
            .filter((lease) => lease.checkAt > after && lease.checkAt <= now)
            .map(({ taskId, leaseId }) => ({ tenantId, taskId, leaseId })),
        )
        .slice(0, limit),
    dueTimers: async (now, limit) =>
      [...tenants]
        .flatMap(([tenantId, tenant]) =>
          [...tenant.timers.values()]
            .filter((timer) => timer.dueAt <= now)
            .map(({ taskId, kind }) => ({ tenantId, taskId, kind })),
        )
        .slice(0, limit),
    dueDependents: async (limit) =>
      [...tenants]
        .flatMap(([tenantId, tenant]) =>
          dependents(tenantId, tenant, (open, dependent) => isDue(tenant, dependent, open)),
        )
        .slice(0, limit),
    dependentsOf: async (tenantId, taskIds) =>
      dependents(tenantId, tenantOf(tenantId), (open) => taskIds.some((taskId) => open.has(taskId))),
    nextEligibleAt: async (tenantId) => {
      const tenant = tenantOf(tenantId)
      const times = [...tenant.delayed].map((taskId) => tenant.tasks.get(taskId)!.state.nextEligibleAt)
      return times.length === 0 ? null : Math.min(...times)
    },
    readUsage: async (tenantId) => tenantOf(tenantId).usage,
    stats: async () => statsOf([...tenants.values()]),
    findDoubtfulObligations: async (limit) => [...tenants.values()].flatMap(doubtful).slice(0, limit),
    ...tenantNames,
    ...keys,
    ...createMemoryTaskTypes(tenantOf),
    ...accounts,
    ...clients,
    ...createMemoryOAuth({ artifacts, accounts, clients }),
    ...createMemoryAudit(tenants, { ...keys, ...accounts, ...clients }),
    ...createMemoryResults(),
    isAlone: () => false, // whoever shares it is in this process, and says nothing
    hint: (hint) => {
      for (const listener of listeners) listener(hint)
    },
    onHint: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    migrate: async () => [],
    pendingMigrations: async () => [],
    findBreaches: async () => [],
    readClock: async () => null,
    ping: async () => {},
    durability: async () => ({ level: 'none', detail: 'memory: everything is lost when the server stops' }),
    close: async () => {},
  }
}

function dependents(
  tenantId: string,
  tenant: Tenant,
  wanted: (open: ReadonlyMap<string, boolean>, dependent: string) => boolean,
): Dependent[] {
  return [...tenant.dependencies]
    .filter(([dependent, open]) => wanted(open, dependent))
    .map(([taskId]) => ({ tenantId, taskId, dependsOn: tenant.tasks.get(taskId)!.definition.dependsOn }))
}

/** One that still waits, and has lost nothing that matters to it, would be looked at in vain, sweep after sweep. */
function isDue(tenant: Tenant, dependent: string, open: ReadonlyMap<string, boolean>): boolean {
  const { onDependencyFailure } = tenant.tasks.get(dependent)!.definition
  const ended = [...open].filter(([, due]) => due).map(([taskId]) => tenant.tasks.get(taskId)!)
  const lost = ended.some(({ state }) => state.status !== 'succeeded')
  return ended.length === open.size || (lost && onDependencyFailure === 'cancel')
}

function statsOf(tenants: readonly Tenant[]): Stats {
  const byStatus: Record<TaskStatus, number> = {
    queued: 0,
    leased: 0,
    running: 0,
    succeeded: 0,
    failed: 0,
    canceled: 0,
  }
  for (const tenant of tenants) for (const task of tenant.tasks.values()) byStatus[task.state.status] += 1
  const leases = tenants.flatMap(activeLeases)
  const oldest = tenants.flatMap((tenant) => {
    const taskId = tenant.ready.oldest()
    return taskId === null ? [] : [tenant.tasks.get(taskId)!.definition.createdAt]
  })
  return {
    byStatus,
    ready: tenants.reduce((sum, tenant) => sum + tenant.ready.size(), 0),
    delayed: tenants.reduce((sum, tenant) => sum + tenant.delayed.size, 0),
    activeLeases: leases.length,
    workers: new Set(leases.map((lease) => lease.worker.id)).size,
    oldestReadyAt: oldest.length === 0 ? null : Math.min(...oldest),
    openObligations: tenants.reduce(
      (sum, tenant) => sum + [...tenant.obligations.values()].filter((by) => by === null).length,
      0,
    ),
  }
}

/** Evidence is what the receipts say; the index must say the same. */
function doubtful(tenant: Tenant): string[] {
  return [...tenant.obligations]
    .filter(([receiptId, dischargedBy]) => {
      const obligation = tenant.ledger[tenant.positions.get(receiptId)!]!
      const evidence = tenant.ledger.find(
        ({ parents, receiptType }) =>
          parents.includes(receiptId) && discharges(receiptType, obligation.receiptType),
      )
      return (evidence?.receiptId ?? null) !== dischargedBy
    })
    .map(([receiptId]) => receiptId)
}
