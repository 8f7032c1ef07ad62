// How a set of rows travels to PostgreSQL: one array for each column. One JSON parameter for all of them costs this process
// less to write, and PostgreSQL more to read: the database is what is hardest to have more of.
import type { Columns, ColumnType } from '../sql/session.ts'
import { binaryArray, ELEMENTS } from './binary-array.ts'

/** The rows, named `x`: the arrays are the parameters after `$1`, the tenant. */
export function inputRows(columns: Columns): string {
  const members = Object.entries(columns)
  const arrays = members.map(([, type], index) => `$${index + 2}::${ELEMENTS[type].name}[]`)
  const named = members.map(([name]) => name)
  return `(select ${members.map(selected).join(', ')} from unnest(${arrays.join(', ')}) as u(${named.join(', ')})) as x`
}

/** Lists of one column may differ in length, which arrays of arrays may not: they travel as text. */
function selected([name, type]: [string, ColumnType]): string {
  return type === 'texts' ? `u.${name}::text[] as ${name}` : `u.${name}`
}

/** Where every value is null, the array is left empty: what a shorter one lacks is null. */
const NO_VALUES = '{}'

export function inputArrays(columns: Columns, rows: readonly object[]): (Buffer | string)[] {
  return Object.entries(columns).map(([name, type]) => {
    // A row of the columns that are asked for.
    const values = rows.map((row) => (row as Readonly<Record<string, unknown>>)[name] ?? null)
    return values.every((value) => value === null) ? NO_VALUES : binaryArray(type, values)
  })
}
