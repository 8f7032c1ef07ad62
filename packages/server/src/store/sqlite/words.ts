// What SQLite says differently. One writer at a time: there is nothing to lock.
import type { Columns, Words } from '../sql/session.ts'

export const sqliteWords: Words = {
  // `cross join` keeps the order of the relations; the condition makes it an ordinary join.
  find: (table, alias, condition) => `cross join ${table} ${alias} on ${condition}`,
  findLocked: (table, alias, condition) => `cross join ${table} ${alias} on ${condition}`,
  findFree: (table, alias, condition) => `cross join ${table} ${alias} on ${condition}`,
  findOptional: (table, alias, condition) => `left join ${table} ${alias} on ${condition}`,
  update: ({ table, keys, input, and }, set) => `
    update ${table} set ${set}
    from ${input}
    where ${matches(table, keys)} ${and === undefined ? '' : `and ${and(table)}`}`,
  delete: ({ table, keys, input }) => `
    delete from ${table}
    where (tenant_id, ${keys.join(', ')}) in (select $1, ${keys.map((name) => `x.${name}`).join(', ')} from ${input})`,
  among: (column, select) => `${column} in (${select})`,
  unhex: (expression) => `unhex(${expression})`,
  // hex(null) is an empty text.
  hex: (expression) => `lower(nullif(hex(${expression}), ''))`,
  elements: (expression) => `json_each(${expression}) as e`,
  id: (expression) => expression,
}

function matches(table: string, keys: readonly string[]): string {
  return [`${table}.tenant_id = $1`, ...keys.map((name) => `${table}.${name} = x.${name}`)].join(' and ')
}

/** One row of bound values, named `x`; `$1` is the tenant. */
export function inputRow(columns: Columns): string {
  const values = Object.keys(columns).map((name, index) => `$${index + 2} as ${name}`)
  return `(select ${values.join(', ')}) as x`
}

export function numbered(text: string): string {
  return text.replaceAll(/\$(\d+)/g, '?$1')
}
