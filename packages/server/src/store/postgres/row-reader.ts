// From the fields of an answer, which are text, to a row.
import { types } from 'pg'
import { makeRowMaker, type RowMaker } from '../sql/row-maker.ts'

export interface Column {
  readonly name: string
  readonly dataTypeID: number
}

export type RowReader = RowMaker<string | null>

/** Without prepared statements what an answer consists of is described each time. */
const made = new Map<string, RowReader>()

export function rowReader(columns: readonly Column[]): RowReader {
  const key = columns.map(({ name, dataTypeID }) => `${dataTypeID} ${name}`).join('\n')
  let reader = made.get(key)
  if (reader === undefined) made.set(key, (reader = makeReader(columns)))
  return reader
}

function makeReader(columns: readonly Column[]): RowReader {
  return makeRowMaker(
    columns.map(({ name }) => name),
    (at) => valueOf(columns[at]!.dataTypeID, at),
    columns.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, 'text')),
  )
}

const { INT2, INT4, INT8, FLOAT8, TEXT, UUID, TID, JSON: JSON_TYPE } = types.builtins

/** As numbers: none of ours reaches 2^53. */
const NUMBERS: readonly number[] = [INT2, INT4, INT8, FLOAT8]
/** JSON is parsed where it is needed. */
const TEXTS: readonly number[] = [TEXT, UUID, TID, JSON_TYPE]

function valueOf(oid: number, at: number): string {
  const field = `fields[${at}]`
  if (TEXTS.includes(oid)) return field
  const value = NUMBERS.includes(oid) ? `Number(${field})` : `tools[${at}](${field})`
  return `${field} === null ? null : ${value}`
}
