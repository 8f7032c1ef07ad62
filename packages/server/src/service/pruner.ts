// Removes what is kept for a time only: rows of the audit log, after 90 days (AUD-1); codes, tokens and sessions that have ended;
// signing keys that nothing valid was signed with; token buckets that are full again.
import { RETIRED_KEPT_MS } from '../auth/signing-keys.ts'
import type { Clock } from '../clock.ts'
import type { AuditStore } from '../store/audit.ts'
import type { OAuthStore } from '../store/oauth.ts'
import type { TokenStore } from '../store/tokens.ts'

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

type Pruned = AuditStore & OAuthStore & { readonly tokens?: TokenStore }

export function createPruner({ store, clock }: { store: Pruned; clock: Clock }): Pruner {
  return {
    runOnce: async () => {
      const now = clock.now()
      await store.pruneSigningKeys(now - RETIRED_KEPT_MS)
      const ended = await inBatches((limit) => store.pruneArtifacts(now, limit))
      const rows = await inBatches((limit) => store.pruneAudit(now - AUDIT_DAYS * DAY_MS, limit))
      const buckets = await inBatches(async (limit) => (await store.tokens?.pruneTokens?.(now, limit)) ?? 0)
      return ended + rows + buckets
    },
  }
}

async function inBatches(prune: (limit: number) => Promise<number>): Promise<number> {
  let gone = 0
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const removed = await prune(BATCH_MAX)
    gone += removed
    if (removed < BATCH_MAX) break
  }
  return gone
}
