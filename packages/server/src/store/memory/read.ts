// Reading in the memory store: plain filters over plain lists, the oracle for what the SQL stores answer.
import { type Principal, samePrincipal, type Task } from '../../engine/model.ts'
import type { Positioned, ReceiptQuery, TaskQuery, TaskView } from '../port.ts'
import { matchesPrincipal, matchesReceipt } from '../receipt-filter.ts'
import type { Tenant } from './tenant.ts'

export function viewTask(tenant: Tenant, task: Task): TaskView {
  const { taskId } = task.definition
  const leaseId = tenant.activeLease.get(taskId)
  return {
    ...task,
    lease: leaseId === undefined ? null : tenant.leases.get(leaseId)!,
    progress: tenant.progress.get(taskId)?.at(-1)?.progress ?? null,
  }
}

export function listTasks(tenant: Tenant, query: TaskQuery): TaskView[] {
  return [...tenant.tasks.values()]
    .filter((task) => matchesTask(task, query))
    .sort((a, b) => (a.definition.taskId < b.definition.taskId ? 1 : -1))
    .slice(0, query.limit)
    .map((task) => viewTask(tenant, task))
}

function matchesTask({ definition, state }: Task, query: TaskQuery): boolean {
  const { createdBy, concerning } = query
  return (
    (query.status === null || state.status === query.status) &&
    (query.type === null || definition.type === query.type) &&
    (createdBy === null || matchesPrincipal(definition.createdBy, createdBy)) &&
    (concerning === null ||
      samePrincipal(definition.createdBy, concerning) ||
      samePrincipal(definition.recipient, concerning)) &&
    (query.deadLetter === null || state.deadLetter === query.deadLetter) &&
    (query.tag === null || definition.tags.includes(query.tag)) &&
    (query.createdFrom === null || definition.createdAt >= query.createdFrom) &&
    (query.createdBefore === null || definition.createdAt < query.createdBefore) &&
    (query.before === null || definition.taskId < query.before)
  )
}

export function listReceipts(tenant: Tenant, query: ReceiptQuery): Positioned[] {
  const found: Positioned[] = []
  for (let position = (query.after ?? 0) + 1; position <= tenant.ledger.length; position++) {
    if (found.length >= query.limit) break
    const receipt = tenant.ledger[position - 1]!
    if (matchesReceipt(receipt, query)) found.push({ position, receipt })
  }
  return found
}

export function openObligations(
  tenant: Tenant,
  query: { principal: Principal; after: number | null; limit: number },
): Positioned[] {
  return [...tenant.obligations]
    .filter(([, dischargedBy]) => dischargedBy === null)
    .map(([receiptId]) => positioned(tenant, receiptId)!)
    .filter(
      ({ position, receipt }) => position > (query.after ?? 0) && samePrincipal(receipt.to, query.principal),
    )
    .slice(0, query.limit)
}

export function positioned(tenant: Tenant, receiptId: string): Positioned | null {
  const index = tenant.positions.get(receiptId)
  return index === undefined ? null : { position: index + 1, receipt: tenant.ledger[index]! }
}
