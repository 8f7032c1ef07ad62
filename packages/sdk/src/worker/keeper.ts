// Chooses who keeps the leases: a thread of its own, or a timer beside the handlers.
import type { Client } from '../client.ts'
import { wireOf } from '../client/wires.ts'
import { steadyClock, type WorkerClock } from './clock.ts'
import type { WorkerName } from './execution.ts'
import { createLeaseKeeper, type KeeperReports, type LeaseKeeper } from './lease-keeper.ts'
import { renewalsOver } from './renewals.ts'
import { startThreadKeeper } from './thread-keeper.ts'

export interface KeeperChoice {
  readonly client: Client
  readonly worker: WorkerName
  readonly ttlMs: number
  /** A clock that a test moves is not to be had on another thread. */
  readonly clock: WorkerClock | undefined
  readonly renewFrom: 'thread' | 'timer'
  readonly reports: KeeperReports
}

export async function openKeeper(choice: KeeperChoice): Promise<LeaseKeeper & { from: 'thread' | 'timer' }> {
  const { client, worker, ttlMs, clock, reports } = choice
  const timer = () =>
    createLeaseKeeper({ renew: renewalsOver(client, worker), ttlMs, clock: clock ?? steadyClock, reports })
  const wire = wireOf(client)
  if (choice.renewFrom === 'thread' && clock === undefined && wire !== undefined) {
    const thread = await startThreadKeeper({ data: { wire, worker, ttlMs }, reports, insteadOf: timer })
    if (thread) return { ...thread, from: 'thread' }
  }
  return { ...timer(), from: 'timer' }
}
