// What a worker wrote as commands, and the engine's replies as the worker reads them.
import type { GateContract, Output, Parsed } from '@asyncgate/sdk'
import { iso } from '../../clock.ts'
import type { ClaimCommand, Holding, LeaseCommand } from '../../engine/command.ts'
import type { Principal, TaskStatus } from '../../engine/model.ts'
import type { Policy } from '../../engine/policy.ts'
import { assertFits, orNull } from './parts.ts'

export type ClaimInput = Omit<
  Parsed<GateContract['leaseNext']>,
  'worker_id' | 'worker_kind' | 'principal_instance_id'
>
/** One outcome of `settle`; the single operations have the same fields. */
export type Report = Extract<Parsed<GateContract['settle']>['outcomes'][number], { ok: true }>['value']

type Wire<K extends keyof GateContract> = Output<GateContract[K]>

export function toClaim(input: ClaimInput, worker: Principal): ClaimCommand {
  const capabilities = (input.capabilities ?? []).map((name) => name.toLowerCase())
  return {
    kind: 'claim',
    worker,
    filter: {
      capabilities: [...new Set(capabilities)].toSorted(),
      acceptTypes: input.accept_types === undefined ? null : [...new Set(input.accept_types)].toSorted(),
      preferredTypes: [...new Set(input.preferred_types ?? [])].toSorted(),
    },
    maxTasks: input.max_tasks,
    ttlSeconds: orNull(input.lease_ttl_seconds),
    capacity: orNull(input.capacity),
  }
}

export function toLeaseCommand(report: Report, worker: Principal, policy: Policy): LeaseCommand {
  const held = holding(report, worker)
  switch (report.action) {
    case 'complete':
      return {
        kind: 'complete',
        ...held,
        bytes: assertFits('result', report.result, policy),
        result: report.result,
        resultSummary: orNull(report.result_summary),
        artifacts: report.artifacts ?? [],
        deliveryProof: orNull(report.delivery_proof),
        storeResult: report.store_result,
        completionMetadata: orNull(report.completion_metadata),
      }
    case 'fail': {
      const { error, retryable, retry_after_seconds } = report
      return { kind: 'fail', ...held, error, retryable, retryAfterSeconds: orNull(retry_after_seconds) }
    }
    case 'release':
      return { kind: 'release', ...held, reason: orNull(report.reason) }
    case 'renew':
      return { kind: 'renew', ...held, extendBySeconds: orNull(report.extend_by_seconds) }
    case 'progress':
      assertFits('progress', report.progress, policy)
      return { kind: 'progress', ...held, progress: report.progress }
  }
}

export function holding(
  { task_id, lease_id }: { task_id: string; lease_id: string },
  worker: Principal,
): Holding {
  return { worker, taskId: task_id, leaseId: lease_id }
}

/** What decisions on a lease answer; which members are there depends on the command. */
export interface LeaseReply {
  readonly status?: TaskStatus
  readonly expiresAt?: number
  readonly receiptId?: string
  readonly requeued?: boolean
  readonly nextEligibleAt?: number
}

export const startedToWire = (reply: LeaseReply): Wire<'start'> => ({
  ok: true,
  status: reply.status!,
  expires_at: iso(reply.expiresAt!),
})

const kept = (reply: LeaseReply): Wire<'renewLease'> => ({ ok: true, expires_at: iso(reply.expiresAt!) })

export const replyToWire = {
  complete: ({ status, receiptId }: LeaseReply): Wire<'complete'> => ({
    ok: true,
    status: status!,
    receipt_id: receiptId!,
  }),
  fail: ({ requeued, nextEligibleAt }: LeaseReply): Wire<'fail'> => ({
    ok: true,
    requeued: requeued!,
    ...(nextEligibleAt === undefined ? {} : { next_eligible_at: iso(nextEligibleAt) }),
  }),
  release: ({ status }: LeaseReply): Wire<'releaseLease'> => ({ ok: true, status: status! }),
  renew: kept,
  progress: kept,
}
