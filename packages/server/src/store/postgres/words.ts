// What PostgreSQL says differently, and how a set of rows travels: as one JSON parameter.
import type { Columns, ColumnType, Matching, Words } from '../sql/session.ts'

export const postgresWords: Words = {
  // `offset 0` keeps the planner from turning the lookup round.
  find: (table, alias, condition) =>
    `cross join lateral (select * from ${table} ${alias} where ${condition} offset 0) as ${alias}`,
  findLocked: (table, alias, condition) =>
    `cross join lateral (select * from ${table} ${alias} where ${condition} offset 0 for update) as ${alias}`,
  findFree: (table, alias, condition) =>
    `cross join lateral (select * from ${table} ${alias} where ${condition} offset 0 for update skip locked) as ${alias}`,
  findOptional: (table, alias, condition) =>
    `left join lateral (select * from ${table} ${alias} where ${condition} offset 0) as ${alias} on true`,
  // By the row's own address: whoever changes these rows holds the task's lock, so that it cannot have moved.
  update: (matching, set) => `
    update ${matching.table} set ${set}
    from (select x.*, f.ctid as address from ${found(matching)}) as x
    where ${matching.table}.ctid = x.address`,
  delete: (matching) => `
    delete from ${matching.table} using (select f.ctid as address from ${found(matching)}) as x
    where ${matching.table}.ctid = x.address`,
  among: (column, select) => `${column} = any (array(${select}))`,
  unhex: (expression) => `decode(${expression}, 'hex')`,
  hex: (expression) => `encode(${expression}, 'hex')`,
  elements: (expression) => `json_array_elements_text(${expression}) as e(value)`,
  id: (expression) => `cast(${expression} as uuid)`,
}

function found({ table, keys, input, and }: Matching): string {
  const conditions = ['f.tenant_id = $1', ...keys.map((name) => `f.${name} = x.${name}`)]
  return `${input} cross join lateral (
      select f.ctid, f.* from ${table} f where ${conditions.join(' and ')} offset 0
    ) as f
    ${and === undefined ? '' : `where ${and('f')}`}`
}

const TYPES: Record<ColumnType, string> = {
  uuid: 'uuid',
  text: 'text',
  texts: 'text[]',
  int: 'integer',
  bigint: 'bigint',
  boolean: 'boolean',
  json: 'json',
  hex: 'text',
}

/** The rows of `$2`, named `x`; `$1` is the tenant. Measured as fast as one array for each column. */
export function inputRows(columns: Columns): string {
  const typed = Object.entries(columns).map(([name, type]) => `${name} ${TYPES[type]}`)
  return `json_to_recordset($2::json) as x(${typed.join(', ')})`
}
