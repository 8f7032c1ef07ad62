// What can go wrong below the store, in three kinds, so that nothing above knows a driver's error codes.
import { GateError } from '@asyncgate/sdk'

/**
 * conflict: another transaction was in the way, a fresh attempt may succeed; unavailable: the database cannot
 * be reached or the outcome of a commit is unknown; defect: a statement that should not have failed.
 */
export type FailureKind = 'conflict' | 'unavailable' | 'defect'

export class StoreFailure extends Error {
  readonly kind: FailureKind
  /** An idempotency key that was to be written was there already. */
  readonly isKnownKey: boolean

  constructor(kind: FailureKind, cause: unknown, { isKnownKey = false } = {}) {
    super(`The database refused a statement (${kind}).`, { cause })
    this.name = 'StoreFailure'
    this.kind = kind
    this.isKnownKey = isKnownKey
  }
}

/** A guess that suits a restart of the database and a failover alike. */
const RETRY_AFTER_SECONDS = 2

/**
 * What callers are told: never the driver's own words. A defect stays an error, with its cause for the log.
 */
export function toCaller(error: unknown): unknown {
  if (!(error instanceof StoreFailure) || error.kind === 'defect') return error
  const message =
    error.kind === 'conflict'
      ? 'The database is too busy with conflicting work. Nothing was changed; try again.'
      : 'The database cannot be reached, or its answer was lost. Try again: every call is safe to repeat.'
  return new GateError(
    'database_unavailable',
    message,
    { retry_after: RETRY_AFTER_SECONDS },
    { cause: error },
  )
}
