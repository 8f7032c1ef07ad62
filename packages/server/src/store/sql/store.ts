// The store that SQLite and PostgreSQL share: everything but what their drivers do differently.
import type { Principal } from '../../engine/model.ts'
import type { Dependent, Store } from '../port.ts'
import { createSqlAccounts } from './accounts.ts'
import { createSqlAudit } from './audit.ts'
import { createCrowded } from './crowded.ts'
import { createDoubts } from './doubts.ts'
import { createSqlClients } from './clients.ts'
import { toCaller } from './failure.ts'
import { createHoldings } from './holdings.ts'
import { createSqlKeys } from './keys.ts'
import { createLanes } from './lanes.ts'
import { listReceipts } from './list-receipts.ts'
import { listTasks } from './list-tasks.ts'
import { createSqlOAuth } from './oauth.ts'
import type { Driver } from './session.ts'
import { readStats } from './stats.ts'
import { type DependentRow, dependentsOf, dueDependents } from './statements/dependencies.ts'
import { doubtfulObligations } from './statements/doubts.ts'
import { activeByKey, activeOfTenant, dueLeases } from './statements/leased.ts'
import { receiptsById } from './statements/ledger.ts'
import { dischargedBy, openObligations } from './statements/obligations.ts'
import { nextEligibleAt } from './statements/queued.ts'
import { relationship } from './statements/principals.ts'
import { listProgress } from './statements/progress.ts'
import { dueTimers } from './statements/timers.ts'
import { readUsage } from './statements/usage.ts'
import { dependsOnFromRow } from './definition-row.ts'
import { createSqlTaskTypes } from './task-types.ts'
import { readTask, taskViewFromRow } from './task-view.ts'
import { createSqlResults } from './results.ts'
import { createSqlTenants } from './tenants.ts'
import { transact } from './transact.ts'
import { isUuid, uuids } from './uuid.ts'

export function createSqlStore(driver: Driver): Store {
  const { readerOf, acrossTenants, scanner } = driver
  const lanes = createLanes()
  const keyed = new Set<string>()
  const crowded = createCrowded()
  const holdings = createHoldings()
  const doubts = createDoubts()

  const readReceipts = (tenantId: string, receiptIds: readonly string[]) =>
    receiptsById(readerOf(tenantId), tenantId, uuids(receiptIds))

  const store: Store = {
    kind: driver.kind,
    commitsAtOnce: driver.commitsAtOnce,
    transact: (unit) => transact({ driver, lanes, keyed, crowded, holdings, doubts }, unit),
    readTask: async (tenantId, taskId) =>
      isUuid(taskId) ? readTask(readerOf(tenantId), tenantId, taskId) : null,
    listTasks: async (wanted) => {
      if (wanted.before !== null && !isUuid(wanted.before)) return []
      return (await listTasks(readerOf(wanted.tenantId), wanted)).map(taskViewFromRow)
    },
    listProgress: async ({ tenantId, taskId, after, limit }) =>
      isUuid(taskId) ? listProgress(readerOf(tenantId), { tenantId, taskId, after: after ?? 0, limit }) : [],
    readReceipt: async (tenantId, receiptId) => (await readReceipts(tenantId, [receiptId]))[0] ?? null,
    readReceipts,
    listReceipts: async (wanted) => {
      if (wanted.taskId !== null && !isUuid(wanted.taskId)) return []
      return listReceipts(readerOf(wanted.tenantId), wanted)
    },
    openObligations: ({ tenantId, principal: { kind, id }, after, limit }) =>
      openObligations(readerOf(tenantId), tenantId, { kind, id, after: after ?? 0, limit }),
    dischargedBy: async (tenantId, receiptId) =>
      isUuid(receiptId) ? dischargedBy(readerOf(tenantId), tenantId, receiptId) : undefined,
    readRelationship: async (tenantId, principal) => {
      const row = await relationship(readerOf(tenantId), tenantId, principal)
      return row === undefined ? null : relationshipFromRow(principal, row)
    },
    countActive: async (tenantId, key) =>
      key === null
        ? activeOfTenant(readerOf(tenantId), tenantId)
        : ((await activeByKey(readerOf(tenantId), tenantId, [key]))[0]?.active ?? 0),
    dueLeases: async (now, limit, after) =>
      (await dueLeases(acrossTenants, { now, limit, after })).map((row) => ({
        tenantId: row.tenant_id,
        taskId: row.task_id,
        leaseId: row.lease_id,
      })),
    dueTimers: async (now, limit) =>
      (await dueTimers(acrossTenants, { now, limit })).map((row) => ({
        tenantId: row.tenant_id,
        taskId: row.task_id,
        kind: row.kind,
      })),
    dueDependents: async (limit) => (await dueDependents(acrossTenants, limit)).map(dependentFromRow),
    dependentsOf: async (tenantId, taskIds) =>
      distinctDependents(await dependentsOf(readerOf(tenantId), tenantId, uuids(taskIds))),
    nextEligibleAt: (tenantId) => nextEligibleAt(readerOf(tenantId), tenantId),
    readUsage: (tenantId) => readUsage(readerOf(tenantId), tenantId),
    stats: () => readStats(scanner),
    findDoubtfulObligations: async (limit) =>
      (await doubtfulObligations(scanner, limit)).map((row) => row.receipt_id),
    ...createSqlKeys(driver),
    ...createSqlTenants(driver),
    ...createSqlTaskTypes(driver),
    ...createSqlAccounts(driver),
    ...createSqlClients(driver),
    ...createSqlOAuth(driver),
    ...createSqlAudit(driver),
    ...createSqlResults(driver),
    isAlone: driver.isAlone,
    hint: driver.hint,
    onHint: driver.onHint,
    migrate: driver.migrate,
    pendingMigrations: driver.pendingMigrations,
    findBreaches: driver.findBreaches,
    readClock: driver.readClock,
    ping: driver.ping,
    durability: driver.durability,
    close: driver.close,
  }
  return speakingToCallers(store)
}

/** They ask no database. */
const AT_ONCE = new Set(['isAlone', 'hint', 'onHint'])

/** Whatever a driver says on its way out, callers hear `database_unavailable` or nothing of it. */
function speakingToCallers(store: Store): Store {
  return Object.fromEntries(
    Object.entries(store).map(([name, member]) => [
      name,
      typeof member !== 'function' || AT_ONCE.has(name) ? member : translated(member),
    ]),
  ) as unknown as Store // the same members, each with the same arguments and results
}

function translated(method: (...args: never[]) => unknown) {
  return async (...args: never[]) => {
    try {
      return await method(...args)
    } catch (error) {
      throw toCaller(error)
    }
  }
}

function relationshipFromRow(
  { kind, id }: Principal,
  row: { first_seen_at: number; last_seen_at: number; sessions_count: number },
) {
  return {
    principal: { kind, id },
    firstSeenAt: row.first_seen_at,
    lastSeenAt: row.last_seen_at,
    sessionsCount: row.sessions_count,
  }
}

function dependentFromRow(row: DependentRow): Dependent {
  return { tenantId: row.tenant_id, taskId: row.task_id, dependsOn: dependsOnFromRow(row) }
}

/** A task that waits for two of the tasks asked about was found twice. */
function distinctDependents(rows: readonly DependentRow[]): Dependent[] {
  return [...new Map(rows.map((row) => [row.task_id, row])).values()].map(dependentFromRow)
}
