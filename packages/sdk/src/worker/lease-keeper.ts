// Keeps leases alive: renews each at a third of its length, many in one call, and tells which are lost. It runs on a thread of
// its own where there are threads, else beside the handlers.
import type { WorkerClock } from './clock.ts'
import type { LostLease } from './errors.ts'
import { isPassingCode } from './report.ts'

export interface HeldLease {
  readonly taskId: string
  readonly leaseId: string
}

export type RenewalAnswer =
  | { readonly ok: true }
  | { readonly ok: false; readonly error: string; readonly message: string; readonly task_status?: unknown }

export interface KeeperReports {
  onLost(leaseId: string, lost: LostLease): void
  onRenewed(count: number): void
  onTrouble(message: string): void
}

export interface LeaseKeeper {
  /** From now on; the lease was granted a moment ago. */
  keep(leases: readonly HeldLease[]): void
  drop(leaseIds: readonly string[]): void
  close(): void
}

export interface KeeperParts {
  /** Answers in the order of the leases. */
  readonly renew: (leases: readonly HeldLease[], signal: AbortSignal) => Promise<readonly RenewalAnswer[]>
  readonly ttlMs: number
  readonly clock: WorkerClock
  readonly reports: KeeperReports
}

/** As many as one call may carry. */
const RENEWALS_MAX = 1_000
/** Leases that are due within this share of the interval are renewed together. */
const GATHER_SHARE = 0.1
const RETRY_MS_MAX = 1_000

interface Kept {
  readonly lease: HeldLease
  dueAt: number
  /** When it is over unless it is renewed, by what this process knows. */
  endsAt: number
}

export function createLeaseKeeper({ renew, ttlMs, clock, reports }: KeeperParts): LeaseKeeper {
  const intervalMs = ttlMs / 3
  const retryMs = Math.min(RETRY_MS_MAX, intervalMs / 3)
  const held = new Map<string, Kept>()
  let cancelTimer: (() => void) | undefined
  let isRenewing = false
  let isClosed = false

  function schedule(): void {
    cancelTimer?.()
    cancelTimer = undefined
    if (isRenewing || isClosed || held.size === 0) return
    const dueAt = Math.min(...Array.from(held.values(), (kept) => kept.dueAt))
    cancelTimer = clock.after(dueAt - clock.now(), () => void renewDue()) // rejects never: see renewDue
  }

  async function renewDue(): Promise<void> {
    isRenewing = true
    const sentAt = clock.now()
    const until = sentAt + intervalMs * GATHER_SHARE
    const due = [...held.values()].filter((kept) => kept.dueAt <= until).slice(0, RENEWALS_MAX)
    try {
      const answers = await ask(due.map(({ lease }) => lease))
      due.forEach((kept, index) => take(kept, answers[index], sentAt))
      const renewed = answers.filter(({ ok }) => ok).length
      if (renewed > 0) reports.onRenewed(renewed)
    } catch (error) {
      if (!isClosed) reports.onTrouble(`leases could not be renewed: ${messageOf(error)}`)
      for (const kept of due) postpone(kept)
    }
    isRenewing = false
    schedule()
  }

  /** A server that does not answer must not keep a lease from being asked for again, or given up, in time. */
  async function ask(leases: readonly HeldLease[]): Promise<readonly RenewalAnswer[]> {
    const hurry = new AbortController()
    const cancel = clock.after(intervalMs, () => hurry.abort(new Error('no answer in time')))
    try {
      return await renew(leases, hurry.signal)
    } finally {
      cancel()
    }
  }

  function take(kept: Kept, answer: RenewalAnswer | undefined, sentAt: number): void {
    if (answer?.ok) {
      kept.dueAt = sentAt + intervalMs
      kept.endsAt = sentAt + ttlMs
    } else if (answer?.error === 'lease_renewal_limit') {
      // It lives on to its end, and is asked for then, to learn that it is over.
      reports.onTrouble(answer.message)
      kept.dueAt = kept.endsAt
    } else if (answer === undefined || isPassingCode(answer.error)) {
      postpone(kept)
    } else {
      const { message, task_status: status } = answer
      lose(kept, { message, taskStatus: typeof status === 'string' ? status : null })
    }
  }

  function postpone(kept: Kept): void {
    const now = clock.now()
    kept.dueAt = Math.min(now + retryMs, Math.max(now, kept.endsAt))
    if (kept.endsAt > now) return
    lose(kept, { message: 'The lease ended before the server could be asked to renew it.', taskStatus: null })
  }

  function lose({ lease }: Kept, lost: LostLease): void {
    if (held.delete(lease.leaseId)) reports.onLost(lease.leaseId, lost)
  }

  return {
    keep(leases) {
      const now = clock.now()
      for (const lease of leases)
        held.set(lease.leaseId, { lease, dueAt: now + intervalMs, endsAt: now + ttlMs })
      // What was there before is due before.
      if (cancelTimer === undefined) schedule()
    },
    drop(leaseIds) {
      for (const leaseId of leaseIds) held.delete(leaseId)
    },
    close() {
      isClosed = true
      cancelTimer?.()
      held.clear()
    },
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
