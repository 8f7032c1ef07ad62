// The state machine: every state × every move, decided in one table. Nothing else decides legality.
import { GateError } from '@asyncgate/sdk'
import type { TaskStatus } from './model.ts'

/**
 * What can happen to a task. Commands with two endings are two moves: a failure is `retryLater` or `failForGood`, a lost
 * lease `expire` or `poison`, a dependency that ended badly a `cancel`.
 */
export type Move =
  | 'claim'
  | 'start'
  | 'progress'
  | 'renew'
  | 'release'
  | 'complete'
  | 'retryLater'
  | 'failForGood'
  | 'expire'
  | 'poison'
  | 'deadline'
  | 'cancel'
  | 'redrive'
  | 'attach'

/** `lease`: no live lease can exist here; `refuse`: the move makes no sense here; `ignore`: it is already over. */
type Verdict = TaskStatus | 'lease' | 'refuse' | 'ignore'

const MOVES: readonly Move[] = [
  'claim',
  'start',
  'progress',
  'renew',
  'release',
  'complete',
  'retryLater',
  'failForGood',
  'expire',
  'poison',
  'deadline',
  'cancel',
  'redrive',
  'attach',
]

// biome-ignore format: a table reads as a table
const TABLE: Record<TaskStatus, readonly Verdict[]> = {
  //          claim     start      progress   renew      release   complete     retryLater failForGood expire    poison    deadline  cancel      redrive   attach
  queued:    ['leased', 'lease',   'lease',   'lease',   'lease',  'lease',     'lease',   'lease',    'ignore', 'ignore', 'failed', 'canceled', 'refuse', 'refuse'],
  leased:    ['refuse', 'running', 'running', 'leased',  'queued', 'succeeded', 'queued',  'failed',   'queued', 'failed', 'failed', 'canceled', 'refuse', 'refuse'],
  running:   ['refuse', 'running', 'running', 'running', 'queued', 'succeeded', 'queued',  'failed',   'queued', 'failed', 'failed', 'canceled', 'refuse', 'refuse'],
  succeeded: ['refuse', 'lease',   'lease',   'lease',   'lease',  'lease',     'lease',   'lease',    'ignore', 'ignore', 'ignore', 'ignore',   'refuse', 'succeeded'],
  failed:    ['refuse', 'lease',   'lease',   'lease',   'lease',  'lease',     'lease',   'lease',    'ignore', 'ignore', 'ignore', 'ignore',   'failed', 'refuse'],
  canceled:  ['refuse', 'lease',   'lease',   'lease',   'lease',  'lease',     'lease',   'lease',    'ignore', 'ignore', 'ignore', 'ignore',   'refuse', 'refuse'],
}

export function verdict(status: TaskStatus, move: Move): Verdict {
  const found = TABLE[status][MOVES.indexOf(move)]
  if (found === undefined) throw new Error(`no verdict for ${status} × ${move}`)
  return found
}

/** The next status, `null` where there is nothing left to do, or the refusal that the table prescribes. */
export function nextStatus(status: TaskStatus, move: Move): TaskStatus | null {
  const found = verdict(status, move)
  if (found === 'ignore') return null
  if (found === 'lease') throw leaseLost(status)
  if (found === 'refuse') throw illegal(status, move)
  return found
}

/** For the moves that a caller asks for by name; the others are refused by the lease before they come here. */
const WHERE_LEGAL: Partial<Record<Move, string>> = {
  redrive: 'Only a failed task can be retried',
  attach: 'Artifacts can be attached to a succeeded task only',
}

function illegal(status: TaskStatus, move: Move): GateError {
  const rule = WHERE_LEGAL[move] ?? `There is no "${move}" from here`
  return new GateError('invalid_transition', `${rule}, and this one is ${status}.`, { task_status: status })
}

export function leaseLost(status: TaskStatus): GateError {
  return new GateError(
    'lease_invalid_or_expired',
    `This lease is not (or no longer) valid for this worker_id; the task is ${status}. Stop the work and claim again.`,
    { task_status: status },
  )
}
