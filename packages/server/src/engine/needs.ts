// What each command must have loaded before it can be decided.
import type { ClaimCommand, Command, TypeRules } from './command.ts'
import { filterKeyOf } from './decide/claim.ts'
import { idempotencyHash, redriveHash } from './decide/create.ts'
import { ackKey, submittedKey, unlinkableKey } from './decide/receipts.ts'
import type { Policy } from './policy.ts'
import type { ClaimNeed, Needs } from './unit.ts'

/**
 * All candidates of a commit are read, locked and counted under their keys, so there must be an end to them however many
 * claims it carries: 13 claims of 1000 tasks with keys of their own took PostgreSQL more than a minute. Whoever goes short
 * is told to ask again.
 */
const CANDIDATES_MAX = 2_000

type Gathered = { [K in keyof Needs]: Needs[K] extends ReadonlySet<string> ? Set<string> : Needs[K] }

export function needsOf(commands: readonly Command[], policy: Policy): Needs {
  const claims = commands.filter((command) => command.kind === 'claim')
  const needs: Gathered = {
    commands: commands.length,
    taskIds: new Set(),
    peekedTaskIds: new Set(),
    heldTaskIds: new Set(),
    leaseIds: new Set(),
    idempotencyHashes: new Set(),
    receiptIds: new Set(),
    receiptKeys: new Set(),
    obligationsOf: new Set(),
    concurrencyKeys: new Set(),
    claims: claimNeeds(claims.filter(({ freshOnly }) => !freshOnly)),
    claimsOnly: claims.length === commands.length,
    countedWorkers: new Set(claims.flatMap((claim) => (claim.capacity === null ? [] : [claim.worker.id]))),
    countTenantLeases: claims.length > 0 && policy.claim.maxConcurrentLeases > 0,
    activeTasksMax: policy.task.maxActive > 0 && commands.some(creates) ? policy.task.maxActive : null,
  }
  for (const command of commands) gather(needs, command)
  return needs
}

function creates({ kind }: Command): boolean {
  return kind === 'create' || kind === 'retry'
}

function gather(needs: Gathered, command: Command): void {
  switch (command.kind) {
    case 'create': {
      const { task } = command
      if (task.idempotencyKey !== null) needs.idempotencyHashes.add(idempotencyHash(task))
      for (const taskId of task.dependsOn) needs.taskIds.add(taskId)
      if (task.concurrencyKey !== null) needs.concurrencyKeys.add(task.concurrencyKey)
      gatherRules(needs, command.rules)
      if (task.parentTaskId !== null) needs.peekedTaskIds.add(task.parentTaskId)
      if (task.causedByReceiptId !== null) needs.receiptIds.add(task.causedByReceiptId)
      return
    }
    case 'retry':
      needs.taskIds.add(command.taskId)
      needs.idempotencyHashes.add(redriveHash(command.taskId))
      gatherRules(needs, command.rules)
      return
    case 'unlinkable':
      needs.receiptKeys.add(unlinkableKey(command))
      needs.taskIds.add(command.taskId)
      needs.obligationsOf.add(command.taskId)
      return
    case 'attach':
      needs.taskIds.add(command.taskId)
      needs.obligationsOf.add(command.taskId)
      return
    case 'ack':
      needs.receiptIds.add(command.receiptId)
      needs.receiptKeys.add(ackKey(command))
      return
    case 'submitReceipt':
      needs.receiptKeys.add(submittedKey(command))
      for (const parent of command.parents) needs.receiptIds.add(parent)
      if (command.taskId !== null) needs.peekedTaskIds.add(command.taskId)
      return
    case 'resolve':
      needs.taskIds.add(command.taskId)
      for (const taskId of command.dependsOn) needs.peekedTaskIds.add(taskId)
      return
    case 'cancel':
    case 'deadline':
      needs.taskIds.add(command.taskId)
      return
    case 'start':
    case 'progress':
    case 'renew':
    case 'release':
    case 'complete':
    case 'fail':
    case 'expire':
      needs.taskIds.add(command.taskId)
      needs.heldTaskIds.add(command.taskId)
      needs.leaseIds.add(command.leaseId)
      return
    case 'refill':
      needs.concurrencyKeys.add(command.concurrencyKey)
      return
    case 'claim':
    case 'greet':
  }
}

function gatherRules(needs: Gathered, rules: TypeRules | undefined): void {
  if (rules !== undefined && rules.concurrencyKey !== null) needs.concurrencyKeys.add(rules.concurrencyKey)
}

function claimNeeds(claims: readonly ClaimCommand[]): ClaimNeed[] {
  const byFilter = new Map<string, ClaimNeed>()
  for (const claim of claims) {
    const filterKey = filterKeyOf(claim)
    const count = (byFilter.get(filterKey)?.count ?? 0) + claim.maxTasks + (claim.spare ?? 0)
    byFilter.set(filterKey, { filterKey, filter: claim.filter, count: Math.min(count, CANDIDATES_MAX) })
  }
  return [...byFilter.values()]
}
