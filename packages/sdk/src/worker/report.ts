// A report: the outcome of one execution, on its way to the server, and what its answers mean for it.
import { ERRORS, GateError, isErrorCode } from '../errors.ts'
import type { Execution } from './execution.ts'
import type { Outcome } from './outcome.ts'

export interface Report {
  readonly execution: Execution
  readonly outcome: Outcome
  readonly durationMs: number
  /** What the handler threw. */
  readonly error?: unknown
  /** It stands for one that was refused. */
  readonly isSubstitute?: boolean
}

export type ReportAnswer =
  | { readonly ok: true; readonly requeued?: unknown }
  | { readonly ok: false; readonly error: string; readonly message: string; readonly task_status?: unknown }

/** As many as one call may carry. */
const OUTCOMES_MAX = 1_000
/** Well below what the server takes in one request; a single outcome may be larger. */
const BATCH_BYTES_MAX = 4 * 1_048_576
export const RETRY_MS_MAX = 30_000

export function toWire({ execution: { task }, outcome }: Report) {
  return { task_id: task.task_id, lease_id: task.lease_id, ...outcome }
}

/** At least one, however large. */
export function takeBatch(unreported: Report[], countMax = OUTCOMES_MAX): Report[] {
  let bytes = 0
  let count = 0
  for (const report of unreported.slice(0, countMax)) {
    bytes += JSON.stringify(report.outcome).length
    if (count > 0 && bytes > BATCH_BYTES_MAX) break
    count += 1
  }
  return unreported.splice(0, count)
}

/** Refusals of a whole call that one of its outcomes can be the reason of. */
export function isAboutAnOutcome(error: unknown): error is GateError {
  return (
    error instanceof GateError &&
    ['payload_too_large', 'invalid_input', 'internal_error'].includes(error.code)
  )
}

/** A fault on the server's side may be mended there. */
export function isPassingCode(code: string): boolean {
  return isErrorCode(code) && (ERRORS[code].retryable || code === 'internal_error')
}

/** Whether the same call may succeed later. */
export function isPassing(error: unknown): error is GateError {
  return error instanceof GateError && isPassingCode(error.code)
}

export function retryAfterMs({ details }: GateError): number | undefined {
  const { retry_after: seconds } = details
  return typeof seconds === 'number' ? Math.min(seconds * 1_000, RETRY_MS_MAX) : undefined
}
