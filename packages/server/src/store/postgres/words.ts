// What PostgreSQL says differently.
import type { Matching, Words } from '../sql/session.ts'
import { LATE_MS } from './floors.ts'

export const postgresWords: Words = {
  // `offset 0` keeps the planner from turning the lookup round. It may not sort, so that an order names an index.
  find: (table, alias, condition, along) =>
    `cross join lateral (
      select * from ${table} ${alias} where ${condition} ${inOrder(along)} offset 0
    ) as ${alias}`,
  findLocked: (table, alias, condition) =>
    `cross join lateral (
      select ${alias}.ctid, ${alias}.* from ${table} ${alias} where ${condition} offset 0 for update
    ) as ${alias}`,
  findFree: (table, alias, condition) =>
    `cross join lateral (select * from ${table} ${alias} where ${condition} offset 0 for update skip locked) as ${alias}`,
  findOptional: (table, alias, condition) =>
    `left join lateral (select * from ${table} ${alias} where ${condition} offset 0) as ${alias} on true`,
  passingOverLocked: 'for update skip locked',
  // By the row's own address: it cannot have moved, since whoever changes one of these rows holds the lock of its task, or of the
  // task that it depends on.
  update: (matching, set) => `
    update ${matching.table} set ${set}
    from (select x.*, f.ctid as address from ${found(matching)}) as x
    where ${matching.table}.ctid = x.address`,
  // All addresses at once: to go to one after the other, as a join does, takes three times as long.
  delete: (matching) => `
    delete from ${matching.table} where ${liesIn(matching.table, `select f.ctid from ${found(matching)}`)}`,
  address: (alias) => `${alias}.ctid::text`,
  liesAt: (table, input) => liesIn(table, `select x.address from ${input}`),
  among: (column, select) => `${column} = any (array(${select}))`,
  unhex: (expression) => expression, // input rows bring bytes
  hex: (expression) => `encode(${expression}, 'hex')`,
  contains: (text, part) => `strpos(${text}, ${part}) > 0`,
  elements: (expression) => `json_array_elements_text(${expression}) as e(value)`,
  takesAllRows: true,
  // A plain relation would be looked up for each row, and step over what the statement itself has added by then.
  once: (select) => `(with once as materialized (${select}) select * from once)`,
  holdLedger: "select pg_advisory_xact_lock(hashtextextended($1::text || ' ledger', 0))",
  comesLate: (id) =>
    `${id} < (select ${idAt(`cast(extract(epoch from clock_timestamp()) * 1000 as bigint) - ${LATE_MS}`)})`,
  id: (expression) => `cast(${expression} as uuid)`,
}

/**
 * Whether a row of the tenant lies at one of these addresses. `coalesce` keeps the tenant from being looked up in an index: where
 * nothing was left of a table when the plan was made, that seems cheaper than going to an address.
 */
export const liesIn = (table: string, addresses: string) =>
  `coalesce(${table}.tenant_id = $1, false) and ${table}.ctid = any (array(${addresses}))`

const inOrder = (along: string | undefined) => (along === undefined ? '' : `order by ${along}`)

/** The first id of a millisecond. */
const idAt = (ms: string) => `cast(lpad(to_hex(${ms}), 12, '0') || repeat('0', 20) as uuid)`

function found({ table, keys, input, and, along }: Matching): string {
  const conditions = ['f.tenant_id = $1', ...keys.map((name) => `f.${name} = x.${name}`)]
  if (and !== undefined) conditions.push(and('f'))
  return `${input} cross join lateral (
      select f.ctid, f.* from ${table} f where ${conditions.join(' and ')} ${inOrder(along)} offset 0
    ) as f`
}
