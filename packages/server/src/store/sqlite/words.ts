// What SQLite says differently. One writer at a time: there is nothing to lock.
import type { Columns, Words } from '../sql/session.ts'

export const sqliteWords: Words = {
  lock: () => '',
  lockSkipping: () => '',
  unhex: (expression) => `unhex(${expression})`,
  // hex(null) is an empty text.
  hex: (expression) => `lower(nullif(hex(${expression}), ''))`,
  elements: (expression) => `json_each(${expression}) as e`,
  deleteMatching: (table, columns, input) => `
    delete from ${table}
    where (tenant_id, ${columns.join(', ')}) in (select $1, ${columns.map((name) => `x.${name}`).join(', ')} from ${input})`,
  orderedJoin: 'cross join',
  id: (expression) => expression,
}

/** One row of bound values, named `x`; `$1` is the tenant. */
export function inputRow(columns: Columns): string {
  const values = Object.keys(columns).map((name, index) => `$${index + 2} as ${name}`)
  return `(select ${values.join(', ')}) as x`
}

export function numbered(text: string): string {
  return text.replaceAll(/\$(\d+)/g, '?$1')
}
