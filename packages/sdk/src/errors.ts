// Every error that AsyncGate can answer, once: its HTTP status, whether a retry can help, and the
// one class that carries it from a decision to the wire (and, in the client, back again).

export const ERRORS = {
  invalid_input: { status: 400, retryable: false },
  invalid_worker_id: { status: 400, retryable: false },
  unauthenticated: { status: 401, retryable: false },
  forbidden: { status: 403, retryable: false },
  worker_mismatch: { status: 403, retryable: false },
  not_found: { status: 404, retryable: false },
  lease_not_found: { status: 404, retryable: false },
  method_not_allowed: { status: 405, retryable: false },
  idempotency_conflict: { status: 409, retryable: false },
  invalid_transition: { status: 409, retryable: false },
  lease_invalid_or_expired: { status: 409, retryable: false },
  already_settled: { status: 409, retryable: false },
  lease_renewal_limit: { status: 409, retryable: false },
  payload_too_large: { status: 413, retryable: false },
  receipt_too_large: { status: 413, retryable: false },
  unsupported_media_type: { status: 415, retryable: false },
  parents_required: { status: 422, retryable: false },
  parent_not_found: { status: 422, retryable: false },
  locatability_required: { status: 422, retryable: false },
  schema_violation: { status: 422, retryable: false },
  rate_limit_exceeded: { status: 429, retryable: true },
  quota_exceeded: { status: 429, retryable: true },
  internal_error: { status: 500, retryable: false },
  database_unavailable: { status: 503, retryable: true },
} as const

export type ErrorCode = keyof typeof ERRORS

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code)
}

/** The error body, the same on every protocol; `request_id` is added where the reply is written. */
export interface ErrorBody {
  error: ErrorCode
  message: string
  retryable: boolean
  request_id?: string
  [detail: string]: unknown
}

/** A refusal that the caller can act on: the message says the fix, the details are facts for programs. */
export class GateError extends Error {
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    code: ErrorCode,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    options: ErrorOptions = {},
  ) {
    super(message, options)
    this.name = 'GateError'
    this.code = code
    this.details = details
  }

  get status(): number {
    return ERRORS[this.code].status
  }

  get retryable(): boolean {
    return ERRORS[this.code].retryable
  }

  body(): ErrorBody {
    return { error: this.code, message: this.message, retryable: this.retryable, ...this.details }
  }
}
