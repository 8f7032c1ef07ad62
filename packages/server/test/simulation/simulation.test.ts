// Some 240 seeds of the simulation in every test run. `npm run simulate` runs more; a failure prints its seed.
import { expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { runSimulation } from './simulation.ts'

/** In parts, so that each stays far from the limit of a test on a busy machine. */
const PARTS = [1, 25, 49, 73, 97, 121, 145, 169, 193, 217]
const SEEDS_PER_PART = 24

// What the runs must have met between them; a simulation that no longer meets it proves less than it seems.
// biome-ignore format: a list reads as a list
const MET = [
  'create', 'claim', 'start', 'progress', 'renew', 'complete', 'fail', 'release', 'cancel', 'attach',
  'retry', 'ack', 'submitReceipt', 'action sweep', 'action pause', 'action stop', 'action hangUp',
  'call refused', 'call undecided', 'call unwritten', 'call misreported', 'call repeated',
  'instance crash', 'connection lost', 'answer lost', 'database_unavailable', 'request late',
  'request repeated after success', 'request doubled on its way', 'request sent again after silence',
  'refusal already_settled', 'refusal idempotency_conflict', 'refusal lease_invalid_or_expired',
  'refusal invalid_transition', 'refusal locatability_required', 'refusal lease_renewal_limit',
  'because deadline_exceeded', 'because dependency_failed', 'because execution_timeout',
  'because lease_expired_too_often', 'because canceled', 'because broken',
  'receipt system.anomaly locatability_missing', 'receipt system.anomaly repeated_lease_expiry',
  'receipt task.retry_scheduled', 'receipt schedule.deleted', 'lease released', 'lease timed_out',
]

const counts = new Map<string, number>()

for (const first of PARTS) {
  const last = first + SEEDS_PER_PART - 1
  verifies(
    // biome-ignore format: one line
    ['GUAR-2', 'GUAR-3', 'GUAR-4', 'GUAR-5', 'LEASE-1', 'LEASE-2', 'LEASE-4', 'LEASE-7', 'LEASE-8', 'STATE-2', 'STATE-5', 'RCPT-2', 'RCPT-9', 'OBL-2', 'TASK-2', 'TASK-3', 'TASK-6'],
    `crashes, lost answers, late and doubled requests and wrong clocks break no promise: seeds ${first} to ${last}`,
    async () => {
      for (let seed = first; seed <= last; seed++) {
        const summary = await runSimulation({ seed })
        for (const [what, count] of summary.counts) counts.set(what, (counts.get(what) ?? 0) + count)
      }
    },
  )
}

test('the runs have met every command, fault and end that they are there to meet', () => {
  expect(MET.filter((what) => !counts.has(what))).toEqual([])
})

test('the same seed gives the same run', async () => {
  const [first, second] = [await runSimulation({ seed: 7 }), await runSimulation({ seed: 7 })]
  expect(second).toEqual(first)
})
