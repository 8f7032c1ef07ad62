// The store's statements as they would be if their authors had forgotten the tenant: what still keeps tenants apart then
// is the database itself.
import { createPostgresDriver, type PostgresOptions } from '../src/store/postgres/index.ts'
import { TENANT_TABLES } from '../src/store/postgres/migrations/index.ts'
import type { Store } from '../src/store/port.ts'
import type { Driver, Session } from '../src/store/sql/session.ts'
import { createSqlStore } from '../src/store/sql/store.ts'

export function createUnfilteredStore(options: PostgresOptions): Store {
  return createSqlStore(withoutFilters(createPostgresDriver(options)))
}

/** What looks across tenants has no filter to lose. */
function withoutFilters(driver: Driver): Driver {
  return {
    ...driver,
    readerOf: (tenantId) => unfiltered(driver.readerOf(tenantId)),
    begin: async (tenantId) => {
      const tx = await driver.begin(tenantId)
      return { ...tx, ...unfiltered(tx) }
    },
  }
}

interface Statement {
  readonly name: string
  readonly text: (...args: never[]) => string
}

/** Statements are told apart by their identity, so each has one counterpart. */
const counterparts = new WeakMap<Statement, Statement>()

function unfiltered(session: Session): Session {
  return {
    all: (query, params) => session.all(counterpart(query), params),
    each: (bulk, tenantId, rows) => session.each(counterpart(bulk), tenantId, rows),
  }
}

function counterpart<S extends Statement>(statement: S): S {
  const known = counterparts.get(statement) as S | undefined
  if (known !== undefined) return known
  const text = (...args: never[]) => {
    const whole = statement.text(...args)
    if (TABLE.test(whole) && !whole.includes('tenant_id')) filterless.add(statement.name)
    return forget(whole)
  }
  const made = { ...statement, text }
  counterparts.set(statement, made)
  return made
}

/** Statements on the rows of tenants that never had a filter to lose. */
export const filterless = new Set<string>()

const TABLE = new RegExp(`\\b(?:from|join|into|update) (?:${TENANT_TABLES.join('|')})\\b`)

/** Each parameter is still named, or PostgreSQL would not know its type. */
function forget(text: string): string {
  return text
    .replaceAll(/\b(\w+\.)?tenant_id = \$1(?!\d)/g, () => '($1::text is not null)')
    .replaceAll(/\b\w+\.tenant_id = \w+\.tenant_id\b/g, 'true')
}
