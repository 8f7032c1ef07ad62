// What PostgreSQL says differently, and how a set of rows travels: as one JSON parameter.
import type { Columns, ColumnType, Words } from '../sql/session.ts'

export const postgresWords: Words = {
  lock: (table) => `for update of ${table}`,
  lockSkipping: (table) => `for update of ${table} skip locked`,
  unhex: (expression) => `decode(${expression}, 'hex')`,
  hex: (expression) => `encode(${expression}, 'hex')`,
  elements: (expression) => `json_array_elements_text(${expression}) as e(value)`,
  deleteMatching: (table, columns, input) => `
    delete from ${table} using ${input}
    where ${table}.tenant_id = $1 ${columns.map((name) => `and ${table}.${name} = x.${name}`).join(' ')}`,
  orderedJoin: 'join',
  id: (expression) => `cast(${expression} as uuid)`,
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
