// Checks of the database: is it there, is it current, does it keep what it acknowledges, does its ledger agree.
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Config } from '../../config.ts'
import type { Store } from '../../store/port.ts'
import { innermost } from '../cause.ts'
import { fail, type Finding, ok, reasonOf, skipped, warn } from './finding.ts'

/** More doubtful obligations than this need no list. */
const DOUBTFUL_SHOWN_MAX = 20
/** Leases last seconds to minutes: clocks this far apart begin to shorten or lengthen them visibly. */
const SKEW_MS_MAX = 2_000

export interface Examination {
  readonly cwd: string
  readonly now: () => number
  readonly openStore: (config: Config) => Promise<Store>
}

export type DatabaseCheck = (store: Store, examination: Examination, config: Config) => Promise<Finding>

/** In this order; each is run with the store open. */
export const DATABASE_CHECKS: Readonly<Record<string, DatabaseCheck>> = {
  schema: checkSchema,
  tenants: checkTenants,
  durability: checkDurability,
  clock: checkClock,
  ledger: checkLedger,
  keys: checkKeys,
}

/** An embedded database that was never used: opening it would create it, and a doctor should not. */
export function isNotCreatedYet({ database }: Config, cwd: string): boolean {
  const path = /^sqlite:(?!:memory:)(.+)$/.exec(database.url)?.[1]
  if (path === undefined) return false
  const file = resolve(cwd, path)
  return !existsSync(file) && existsSync(dirname(file))
}

async function checkSchema(store: Store): Promise<Finding> {
  const pending = await store.pendingMigrations()
  if (pending.length === 0) return ok('current')
  return fail(`${pending.length} migrations are missing: ${pending.join(', ')}.`, 'Run: asyncgate migrate')
}

async function checkTenants(store: Store): Promise<Finding> {
  const breaches = await store.findBreaches()
  if (breaches.length > 0) {
    return fail(
      breaches.map(({ problem }) => problem).join('\n'),
      breaches.map(({ remedy }) => remedy).join('\n'),
    )
  }
  return ok(
    store.kind === 'postgres'
      ? 'row-level security keeps them apart as well'
      : `kept apart by the statements alone; ${store.kind} has no row-level security`,
  )
}

async function checkDurability(store: Store): Promise<Finding> {
  const { level, detail } = await store.durability()
  if (level === 'full') return ok(detail)
  const fix =
    store.kind === 'memory'
      ? 'Use sqlite: or postgres:// for what matters.'
      : 'Restore the settings named here.'
  return warn(`${level}: ${detail}`, fix)
}

async function checkClock(store: Store, { now }: Examination): Promise<Finding> {
  const askedAt = now()
  const toldAt = await store.readClock()
  if (toldAt === null) return ok("the database has this machine's clock")
  // Half of the round trip is taken off, as NTP does.
  const skewMs = Math.round(toldAt - (askedAt + now()) / 2)
  const shown = `${Math.abs(skewMs)} ms ${skewMs < 0 ? 'behind' : 'ahead of'} ours`
  if (Math.abs(skewMs) <= SKEW_MS_MAX) return ok(`the database's clock is ${shown}`)
  return warn(
    `The database's clock is ${shown}.`,
    'Keep the clocks of all machines in step (NTP): servers that differ end leases early or late.',
  )
}

async function checkLedger(store: Store): Promise<Finding> {
  const doubtful = await store.findDoubtfulObligations(DOUBTFUL_SHOWN_MAX)
  if (doubtful.length === 0) return ok('the index of obligations agrees with the receipts')
  return fail(
    `The index of obligations disagrees with the receipts: ${doubtful.join(', ')}${doubtful.length === DOUBTFUL_SHOWN_MAX ? ', …' : ''}.`,
    'The receipts are right. Stop writing to the tables by hand, keep a copy of the database, and report this.',
  )
}

async function checkKeys(
  store: Store,
  { now }: Examination,
  { auth, environment }: Config,
): Promise<Finding> {
  if (await store.hasLiveKeys(now())) return ok('there are API keys that are valid')
  if (auth.mode === 'dev') return ok('there are no API keys; nobody needs one')
  if (auth.apiKey !== null) return ok('there are no API keys but the one of the configuration, auth.api_key')
  // On one's own machine that is how one begins; elsewhere the server is needed.
  const judge = environment === 'production' ? fail : warn
  return judge(
    'There is no key, so nobody could call and "asyncgate serve" would refuse to start.',
    'Run: asyncgate keys create --role admin --principal human/<you>',
  )
}

/** Runs all checks of the store, or says why they can't be. */
export async function examineDatabase(
  config: Config,
  examination: Examination,
): Promise<Record<string, Finding>> {
  const names = Object.keys(DATABASE_CHECKS)
  const skipAll = (why: string) => Object.fromEntries(names.map((name) => [name, skipped(why)]))
  if (isNotCreatedYet(config, examination.cwd)) {
    return { database: ok('not there yet; the first start creates it'), ...skipAll('no database yet') }
  }
  let store: Store
  try {
    store = await examination.openStore(config)
  } catch (error) {
    return { database: unreachable(error), ...skipAll('the database could not be opened') }
  }
  try {
    await store.ping()
    const found: Record<string, Finding> = { database: ok(`${store.kind} answers`) }
    for (const [name, check] of Object.entries(DATABASE_CHECKS))
      found[name] = await examined(() => check(store, examination, config))
    return found
  } catch (error) {
    return { database: unreachable(error), ...skipAll('the database does not answer') }
  } finally {
    await store.close()
  }
}

function unreachable(error: unknown): Finding {
  return fail(
    `The database cannot be used: ${innermost(error) ?? reasonOf(error)}`,
    'Check database.url, that the database runs, and that it lets you in.',
  )
}

/** A check that itself breaks is a finding, not the end of the others. */
async function examined(check: () => Promise<Finding>): Promise<Finding> {
  try {
    return await check()
  } catch (error) {
    return fail(
      `Could not be checked: ${reasonOf(error)}`,
      'See the findings above; run "asyncgate migrate" if the schema is old.',
    )
  }
}
