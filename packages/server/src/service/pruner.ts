// Removes what is kept for a time only: rows of the audit log, after 90 days (AUD-1).
import type { Clock } from '../clock.ts'
import type { AuditStore } from '../store/audit.ts'

const AUDIT_DAYS = 90
const DAY_MS = 86_400_000
/** One transaction's worth. */
const BATCH_MAX = 1_000
/** Of one pass; the next one goes on. */
const BATCHES_MAX = 20

export interface Pruner {
  /** How many rows are gone. */
  runOnce(): Promise<number>
}

export function createPruner({ store, clock }: { store: AuditStore; clock: Clock }): Pruner {
  return {
    runOnce: async () => {
      const before = clock.now() - AUDIT_DAYS * DAY_MS
      let gone = 0
      for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
        const removed = await store.pruneAudit(before, BATCH_MAX)
        gone += removed
        if (removed < BATCH_MAX) break
      }
      return gone
    },
  }
}
