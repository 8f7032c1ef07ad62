// Signing in with a password. Guessing is bounded for each account and for each address, and what is not there costs as much
// time as what is: neither the words nor the time tell which names exist.
import type { Clock } from '../clock.ts'
import type { Random } from '../ids.ts'
import type { AccountStore, FoundAccount } from '../store/accounts.ts'
import { DEFAULT_TENANT } from './caller.ts'
import { createLatest } from './latest.ts'
import { createLine } from './line.ts'
import { type HashCost, hashSecret, matchesHash } from './secret-hash.ts'

/** Wrong passwords within the window, after which nobody is asked any more. */
const ACCOUNT_FAILURES_MAX = 10
/** More, for an address may be that of a whole office. */
const ADDRESS_FAILURES_MAX = 50
const WINDOW_MS = 15 * 60_000
const COUNTED_MAX = 10_000
/** As for keys: each takes 64 MiB and a thread. */
const HASHES_AT_ONCE = 2
const HASHES_WAITING_MAX = 20
const PASSWORD_LENGTH_MAX = 1_000

export type SignedIn =
  | { readonly outcome: 'in'; readonly account: FoundAccount }
  /** `account`: whose name it was, for the record alone. */
  | { readonly outcome: 'wrong'; readonly account: FoundAccount | null }
  | { readonly outcome: 'wait'; readonly seconds: number }

export interface Login {
  /** `tenant/name`, or a name of the default tenant. */
  find(name: string): Promise<FoundAccount | null>
  withPassword(attempt: {
    readonly name: string
    readonly password: string
    /** Where it comes from. */
    readonly network: string
    /** The only tenant that will do, where the client belongs to one. */
    readonly tenantId: string | null
  }): Promise<SignedIn>
}

export interface LoginParts {
  readonly store: Pick<AccountStore, 'findAccountByName'>
  readonly clock: Pick<Clock, 'now'>
  readonly random: Random
  readonly hashCost?: HashCost
}

export function createLogin({ store, clock, random, hashCost }: LoginParts): Login {
  const failures = createFailures(clock)
  const inLine = createLine({ atOnce: HASHES_AT_ONCE, waitingMax: HASHES_WAITING_MAX })
  const nobodys = hashSecret('of nobody', { random, ...(hashCost && { cost: hashCost }) })

  async function find(name: string): Promise<FoundAccount | null> {
    const text = name.trim().toLowerCase()
    const slash = text.indexOf('/')
    const tenantId = slash < 0 ? DEFAULT_TENANT : text.slice(0, slash)
    const username = text.slice(slash + 1)
    return /^[\x21-\x7e]{1,200}$/.test(text) ? store.findAccountByName(tenantId, username) : null
  }

  return {
    find,
    withPassword: async ({ name, password, network, tenantId }) => {
      const counted = [
        { key: `account ${nameKey(name)}`, max: ACCOUNT_FAILURES_MAX },
        { key: `address ${network}`, max: ADDRESS_FAILURES_MAX },
      ]
      const seconds = Math.max(...counted.map(({ key, max }) => failures.secondsToWait(key, max)))
      if (seconds > 0) return { outcome: 'wait', seconds }
      // Counted before it is checked: of many that come at once no more are checked than are allowed.
      for (const { key } of counted) failures.add(key)
      const account = await find(name)
      const expected = account?.passwordHash ?? (await nobodys)
      const busy = new Busy()
      const isRight = await inLine(
        () => matchesHash(password.slice(0, PASSWORD_LENGTH_MAX), expected),
        () => busy,
      ).catch((error: unknown) => {
        if (error === busy) return null
        throw error
      })
      if (isRight === null) return { outcome: 'wait', seconds: 1 }
      const mayEnter =
        account !== null && canSignIn(account) && (tenantId ?? account.tenantId) === account.tenantId
      if (!isRight || !mayEnter || account.passwordHash === null) return { outcome: 'wrong', account }
      failures.forget(counted[0]!.key)
      // One's own account must not clear the count of one's guesses at others.
      failures.takeBack(counted[1]!.key)
      return { outcome: 'in', account }
    },
  }
}

export function canSignIn({ disabledAt, isTenantSuspended }: FoundAccount): boolean {
  return disabledAt === null && !isTenantSuspended
}

class Busy extends Error {}

/** However one account is written, it is one. */
function nameKey(name: string): string {
  const text = name.trim().toLowerCase().slice(0, 200)
  return text.includes('/') ? text : `${DEFAULT_TENANT}/${text}`
}

function createFailures(clock: Pick<Clock, 'now'>) {
  const counts = createLatest<{ readonly since: number; readonly count: number }>(COUNTED_MAX)
  const live = (key: string) => {
    const found = counts.get(key)
    return found !== undefined && clock.now() - found.since < WINDOW_MS ? found : null
  }
  return {
    secondsToWait: (key: string, max: number) => {
      const found = live(key)
      if (found === null || found.count < max) return 0
      return Math.ceil((found.since + WINDOW_MS - clock.now()) / 1_000)
    },
    add: (key: string) => {
      const found = live(key)
      counts.set(key, { since: found?.since ?? clock.now(), count: (found?.count ?? 0) + 1 })
    },
    takeBack: (key: string) => {
      const found = live(key)
      if (found !== null) counts.set(key, { ...found, count: found.count - 1 })
    },
    forget: (key: string) => counts.delete(key),
  }
}
