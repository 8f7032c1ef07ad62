// PostgreSQL's errors in the store's own words.
import { DatabaseError } from 'pg'
import { StoreFailure } from '../sql/failure.ts'

/** serialization failure, deadlock, unique violation, lock not available. */
const CONFLICTS = new Set(['40001', '40P01', '23505', '55P03'])
/** In the message of the error, since a statement cannot choose its code: see held.ts. */
export const NOT_AS_REMEMBERED = 'a lease is not as remembered, which is looked into'
const NOT_A_NUMBER = '22P02'
/** The unique index of idempotency keys: see migration 0001. */
const KEYS = 'tasks_idempotency'
/** The race for the last places of a quota was lost: see migrations 0008 and 0014. */
const NO_ROOM = 'ledger_segments_room'

/** connection trouble (08), out of resources (53), an operator's doing (57), the system's (58). */
const UNAVAILABLE = /^(08|53|57|58)/
/** Password, database or role: the server is there, but not for us until somebody has changed something. */
const REFUSED = /^(28|3D)/

export function toFailure(error: unknown): StoreFailure {
  if (error instanceof StoreFailure) return error
  const isKnownKey = error instanceof DatabaseError && error.constraint === KEYS
  return new StoreFailure(kindOf(error), error, { isKnownKey })
}

function kindOf(error: unknown): StoreFailure['kind'] {
  // What the server did not say itself is the network's, or the driver's about it.
  if (!(error instanceof DatabaseError)) return 'unavailable'
  const code = error.code ?? ''
  const isStale = code === NOT_A_NUMBER && error.message.includes(NOT_AS_REMEMBERED)
  if (CONFLICTS.has(code) || error.constraint === NO_ROOM || isStale) return 'conflict'
  return UNAVAILABLE.test(code) || REFUSED.test(code) ? 'unavailable' : 'defect'
}
