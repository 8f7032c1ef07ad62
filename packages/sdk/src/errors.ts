// Every error that AsyncGate can answer, once: its HTTP status, whether a retry can help, when it comes and what
// to do; and the one class that carries it from a decision to the wire (and, in the client, back again).

export const ERRORS = {
  invalid_input: {
    status: 400,
    retryable: false,
    when: 'The input does not fit the operation; the message names the field and what it must be.',
  },
  invalid_worker_id: {
    status: 400,
    retryable: false,
    when: 'The worker id does not have the form that the route asks for.',
  },
  unauthenticated: {
    status: 401,
    retryable: false,
    when: 'No credential was sent, or it is not valid. Send the key of this server.',
  },
  forbidden: {
    status: 403,
    retryable: false,
    when: "The credential does not allow this, or the request came by a name that is not the server's.",
  },
  worker_mismatch: {
    status: 403,
    retryable: false,
    when: 'The lease belongs to another worker.',
  },
  not_found: {
    status: 404,
    retryable: false,
    when: 'There is no such thing, or it is not yours to see. Check the id.',
  },
  lease_not_found: {
    status: 404,
    retryable: false,
    when: 'There is no such lease.',
  },
  method_not_allowed: {
    status: 405,
    retryable: false,
    when: 'The path exists, but not for this method.',
  },
  idempotency_conflict: {
    status: 409,
    retryable: false,
    when: 'The idempotency key was used with another body. Use a new key, or send the first body again.',
  },
  invalid_transition: {
    status: 409,
    retryable: false,
    when: 'The task is not in a status from which this is possible; task_status says which it is in.',
  },
  lease_invalid_or_expired: {
    status: 409,
    retryable: false,
    when: "The lease was lost, has ended, or is not this worker's. Stop the work; task_status says how the task stands.",
  },
  already_settled: {
    status: 409,
    retryable: false,
    when: 'Another outcome was reported for this lease before. The first one stands; receipt_id names it.',
  },
  lease_renewal_limit: {
    status: 409,
    retryable: false,
    when: 'The server caps renewals or the life of a lease. Finish the work, or release the task.',
  },
  payload_too_large: {
    status: 413,
    retryable: false,
    when: 'A payload, result or request is beyond its limit. Keep it elsewhere and send a pointer.',
  },
  receipt_too_large: {
    status: 413,
    retryable: false,
    when: 'A receipt would be beyond its limits. Receipts are contracts: point to large content.',
  },
  unsupported_media_type: {
    status: 415,
    retryable: false,
    when: 'Send JSON, with the header Content-Type: application/json.',
  },
  parents_required: {
    status: 422,
    retryable: false,
    when: 'A receipt that ends something must name what it ends in parents.',
  },
  parent_not_found: {
    status: 422,
    retryable: false,
    when: 'A parent does not exist in this tenant. Check the id.',
  },
  locatability_required: {
    status: 422,
    retryable: false,
    when: 'Say where the result is: an artifact with a locator, a delivery_proof, or store_result.',
  },
  schema_violation: {
    status: 422,
    retryable: false,
    when: 'The payload does not fit the schema of its task type; path says where. Mend it: list_task_types shows the schema.',
  },
  rate_limit_exceeded: {
    status: 429,
    retryable: true,
    when: 'Too many calls. Wait for retry_after seconds.',
  },
  quota_exceeded: {
    status: 429,
    retryable: true,
    when: 'The tenant has used up what it may have at one time.',
  },
  checksum_mismatch: {
    status: 502,
    retryable: false,
    when: 'What is kept is not what was put there: its checksum differs. Use an archived copy, or run the task again.',
  },
  channel_unavailable: {
    status: 503,
    retryable: true,
    when: 'The store behind a result channel does not answer, or not as it should. Repeat the call.',
  },
  internal_error: {
    status: 500,
    retryable: false,
    when: "Something went wrong on the server's side. Report the request id.",
  },
  database_unavailable: {
    status: 503,
    retryable: true,
    when: 'The server has no database just now, or is stopping. Repeat the call; every write is safe to repeat.',
  },
  server_unreachable: {
    status: 503,
    retryable: true,
    when: 'Only from the client: no server answered at the address. Nothing is known of the call; repeat it.',
  },
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
