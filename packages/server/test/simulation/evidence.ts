// What the receipts alone prove, written a second time and without the engine's own rules: an oracle must not share
// the mistakes of what it judges.
import { createHash } from 'node:crypto'
import type { Receipt } from '../../src/engine/model.ts'
import type { Positioned } from '../../src/store/port.ts'

const DISCHARGES: Readonly<Record<string, string>> = {
  'task.completed': 'task.assigned',
  'task.failed': 'task.assigned',
  'task.canceled': 'task.assigned',
  'schedule.deleted': 'schedule.created',
}

/** Ends that the system decides without a failed execution: they count no attempt. */
const NO_ATTEMPT = new Set(['lease_expired_too_often', 'deadline_exceeded'])

export interface TaskEvidence {
  readonly accepted: Receipt[]
  readonly expired: Receipt[]
  readonly failures: Receipt[]
  /** Terminal receipts that a transition wrote. */
  readonly ends: Receipt[]
  /** Completions that attach_artifacts added. */
  readonly attached: Receipt[]
  readonly resultReady: Receipt[]
}

export interface Evidence {
  /** Takes what the ledger has beyond what was taken before. */
  take(ledger: readonly Positioned[]): void
  of(taskId: string): TaskEvidence
  receipt(receiptId: string): Receipt | undefined
  /** How many receipts were taken. */
  readonly length: number
  readonly open: ReadonlySet<string>
}

const NOTHING = (): TaskEvidence => ({
  accepted: [],
  expired: [],
  failures: [],
  ends: [],
  attached: [],
  resultReady: [],
})

export function createEvidence(): Evidence {
  const byTask = new Map<string, TaskEvidence>()
  const byId = new Map<string, Receipt>()
  const open = new Set<string>()
  let length = 0

  function of(taskId: string): TaskEvidence {
    const found = byTask.get(taskId) ?? NOTHING()
    byTask.set(taskId, found)
    return found
  }

  return {
    take: (ledger) => {
      for (; length < ledger.length; length++) {
        const { receipt } = ledger[length]!
        byId.set(receipt.receiptId, receipt)
        if (Object.values(DISCHARGES).includes(receipt.receiptType)) open.add(receipt.receiptId)
        const closes = DISCHARGES[receipt.receiptType]
        for (const parent of receipt.parents) {
          if (closes !== undefined && byId.get(parent)?.receiptType === closes) open.delete(parent)
        }
        if (receipt.taskId !== null) sort(of(receipt.taskId), receipt)
      }
    },
    of,
    receipt: (receiptId) => byId.get(receiptId),
    get length() {
      return length
    },
    open,
  }
}

function sort(evidence: TaskEvidence, receipt: Receipt): void {
  switch (receipt.receiptType) {
    case 'task.accepted':
      evidence.accepted.push(receipt)
      return
    case 'lease.expired':
      evidence.expired.push(receipt)
      return
    case 'task.retry_scheduled':
      evidence.failures.push(receipt)
      return
    case 'task.failed':
      evidence.ends.push(receipt)
      if (!isWithoutAttempt(receipt)) evidence.failures.push(receipt)
      return
    case 'task.canceled':
      evidence.ends.push(receipt)
      return
    case 'task.completed':
      // Only a worker's own completion names its lease.
      if (receipt.leaseId === null) evidence.attached.push(receipt)
      else evidence.ends.push(receipt)
      return
    case 'task.result_ready':
      evidence.resultReady.push(receipt)
  }
}

function isWithoutAttempt({ from, body }: Receipt): boolean {
  const { code } = body['error'] as { code: string } // every task.failed carries its error
  return from.kind === 'system' && NO_ATTEMPT.has(code)
}

export function hashOf(receipt: Receipt): string {
  const { receiptType, from, to, taskId, leaseId, scheduleId, parents, body } = receipt
  const text = canonical({
    receipt_type: receiptType,
    from: { kind: from.kind, id: from.id },
    to: { kind: to.kind, id: to.id },
    task_id: taskId,
    lease_id: leaseId,
    schedule_id: scheduleId,
    parents: parents.toSorted(),
    body,
  })
  return createHash('sha256').update(text).digest('hex')
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
  return `{${members.join(',')}}`
}
