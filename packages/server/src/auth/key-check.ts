// From an API key to who calls. The order is by cost: what this process knows, its form and checksum, one row of the
// database, and only for a key whose beginning is known Argon2. What was found is trusted for half a minute; then the row is
// read again, so that a revocation is effective everywhere within the minute that AUTH-1 allows. As long as the row holds the
// very hash that the secret was checked against, Argon2 has nothing new to say and is not asked again.
import { GateError } from '@asyncgate/sdk'
import type { Clock } from '../clock.ts'
import type { Random } from '../ids.ts'
import type { ApiKey, KeyStore } from '../store/keys.ts'
import type { Caller } from './caller.ts'
import { tenantSuspended, unauthenticated } from './credential.ts'
import { createKeyMarks } from './key-marks.ts'
import { prefixOf } from './key-text.ts'
import { createLatest } from './latest.ts'
import { createLine } from './line.ts'
import { matchesHash } from './secret-hash.ts'

/** At once for a key that is known: nearly every request brings one, and the least step more would show in what a request costs. */
export type KeyCheck = (text: string) => Caller | Promise<Caller>

const TRUST_MS = 30_000
/** Keys in use on one server; beyond, those unused longest pay for Argon2 again. */
const KNOWN_MAX = 10_000
/** Wrong secrets remembered, so that repeating one costs nothing; apart, so that guessing pushes out no real key. */
const WRONG_MAX = 1_000
/** Each takes 64 MiB and a thread, of which Node has four for everything. */
const HASHES_AT_ONCE = 2
const HASHES_WAITING_MAX = 100

interface Known {
  readonly caller: Caller
  readonly secretHash: string
  readonly expiresAt: number | null
  readonly isTenantSuspended: boolean
  readonly readAt: number
}

export interface KeyCheckParts {
  readonly store: Pick<KeyStore, 'findKey'>
  readonly clock: Pick<Clock, 'now'>
  readonly random: Random
  readonly matches?: typeof matchesHash
}

export function createKeyCheck({ store, clock, random, matches = matchesHash }: KeyCheckParts): KeyCheck {
  const markOf = createKeyMarks(random)
  const known = createLatest<Known>(KNOWN_MAX)
  const wrong = createLatest<string>(WRONG_MAX)
  const underWay = new Map<string, Promise<Known>>()
  const inLine = createLine({ atOnce: HASHES_AT_ONCE, waitingMax: HASHES_WAITING_MAX })

  async function isRight(text: string, mark: string, { secretHash }: ApiKey): Promise<boolean> {
    if (known.get(mark)?.secretHash === secretHash) return true
    if (wrong.get(mark) === secretHash) return false
    const right = await inLine(() => matches(text, secretHash), tooBusy)
    if (!right) wrong.set(mark, secretHash)
    return right
  }

  async function lookUp(text: string, mark: string, prefix: string): Promise<Known> {
    const readAt = clock.now()
    const key = await store.findKey(prefix)
    if (key === null || !isLive(key, readAt) || !(await isRight(text, mark, key))) {
      known.delete(mark)
      throw notValid()
    }
    const { secretHash, expiresAt, isTenantSuspended } = key
    const found = { caller: callerOf(key), secretHash, expiresAt, isTenantSuspended, readAt }
    known.set(mark, found)
    return found
  }

  /** Many requests with one key that nobody knows yet ask once. */
  function lookUpOnce(text: string, mark: string): Promise<Known> {
    let looking = underWay.get(mark)
    if (looking === undefined) {
      const prefix = prefixOf(text)
      if (prefix === null) throw notValid()
      looking = lookUp(text, mark, prefix).finally(() => underWay.delete(mark))
      underWay.set(mark, looking)
    }
    return looking
  }

  return (text) => {
    const mark = markOf(text)
    if (mark === null) throw notValid()
    const now = clock.now()
    const last = known.get(mark)
    if (last !== undefined && isFresh(last, now)) return admit(last, now)
    return lookUpOnce(text, mark).then((found) => admit(found, now))
  }
}

/** What was read in the future was read before the clock was set back: nobody knows how long ago. */
function isFresh({ readAt }: Known, now: number): boolean {
  return readAt <= now && now - readAt < TRUST_MS
}

function admit({ caller, expiresAt, isTenantSuspended }: Known, now: number): Caller {
  if (expiresAt !== null && expiresAt <= now) throw notValid()
  if (isTenantSuspended) throw tenantSuspended(caller)
  return caller
}

export function isLive({ revokedAt, expiresAt }: ApiKey, now: number): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now)
}

function callerOf({ tenantId, principal, role, scopes }: ApiKey): Caller {
  return {
    tenantId,
    principal,
    role,
    scopes: new Set(scopes),
    speaksForAll: scopes.includes('admin:write'),
  }
}

/** The same words whatever is wrong with it: who guesses learns nothing. */
function notValid(): GateError {
  return unauthenticated('The API key is not valid: it is unknown, has expired or was revoked.')
}

function tooBusy(): GateError {
  const message = 'Too many keys are being checked just now. Try again in a moment.'
  return new GateError('rate_limit_exceeded', message, { retry_after: 1 })
}
