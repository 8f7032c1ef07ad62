// What a handler throws to say how its task failed, and what it sees when its task is no longer its own.

export interface FailureOptions extends ErrorOptions {
  /** For programs that read the failure; default the name of the error's class. */
  readonly code?: string
  /** More facts, kept with the failure: any JSON object. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** The attempt failed and another may succeed. Any other error means the same; this one can also say when. */
export class RetryableError extends Error {
  override readonly name = 'RetryableError'
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, options: FailureOptions & { readonly retryAfterSeconds?: number } = {}) {
    super(message, options)
    this.code = options.code ?? this.name
    this.details = options.details ?? {}
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** Trying again cannot help: the task has failed for good. */
export class FatalError extends Error {
  override readonly name = 'FatalError'
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(message: string, options: FailureOptions = {}) {
    super(message, options)
    this.code = options.code ?? this.name
    this.details = options.details ?? {}
  }
}

/**
 * - `canceled`: somebody canceled the task.
 * - `lost`: the lease is over (expired, timed out, past its deadline); another worker may have the task.
 * - `stopping`: this worker is shutting down and has given the task back.
 */
export type LeaseEnd = 'canceled' | 'lost' | 'stopping'

/** The reason of `ctx.signal`: stop, and write nothing more anywhere. Nothing that is returned now counts. */
export class LeaseEndedError extends Error {
  override readonly name = 'LeaseEndedError'
  readonly end: LeaseEnd
  /** What the server said of the task; null when it could not be asked in time. */
  readonly taskStatus: string | null

  constructor(end: LeaseEnd, message: string, taskStatus: string | null = null) {
    super(message)
    this.end = end
    this.taskStatus = taskStatus
  }
}

export function leaseEnded({ message, taskStatus }: LostLease): LeaseEndedError {
  return new LeaseEndedError(taskStatus === 'canceled' ? 'canceled' : 'lost', message, taskStatus)
}

export interface LostLease {
  readonly message: string
  readonly taskStatus: string | null
}
