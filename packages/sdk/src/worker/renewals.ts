// Renewals as the server takes them: many leases in one call and one commit.
import type { Client } from '../client.ts'
import type { WorkerName } from './execution.ts'
import type { HeldLease, RenewalAnswer } from './lease-keeper.ts'

export function renewalsOver(client: Pick<Client, 'settle'>, worker: WorkerName) {
  return async (leases: readonly HeldLease[], signal: AbortSignal): Promise<readonly RenewalAnswer[]> => {
    const outcomes = leases.map(({ taskId, leaseId }) => ({
      action: 'renew' as const,
      task_id: taskId,
      lease_id: leaseId,
    }))
    const reply = await client.settle({ ...worker, outcomes }, { signal })
    return reply.outcomes
  }
}
