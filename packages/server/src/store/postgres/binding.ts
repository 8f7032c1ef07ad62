// How a statement's values travel: the two messages of PostgreSQL's protocol that bind them and have it run. Written here in one
// go: the driver writes each array and each message by itself and copies them together.
import type { ColumnType, Value } from '../sql/session.ts'
import { makeColumnTaker } from '../sql/row-maker.ts'
import { writeArray, writeNull, writeText } from './binary-array.ts'
import { copyOut, putBytes, putInt16, putInt32, reserve } from './sheet.ts'

/** All rows, of the portal without a name. */
const EXECUTE = Buffer.from('E\0\0\0\u0009\0\0\0\0\0')
const TEXT = 0
const BINARY = 1

type Binder<V extends unknown[]> = (...values: V) => Buffer

/** Binds plain values, which travel as text. */
export function makeBinder(name: string): Binder<[readonly Value[]]> {
  const head = headOf(name, [])
  return (values) => {
    let at = putHead(head)
    reserve(at, 2)
    at = putInt16(values.length, at)
    for (const value of values) at = writeValue(value, at)
    return end(at)
  }
}

/** Binds a tenant and rows, as one array for each column. */
export function makeRowBinder(
  name: string,
  columns: readonly (readonly [string, ColumnType])[],
): Binder<[string, readonly object[]]> {
  const head = headOf(name, [TEXT, ...columns.map(() => BINARY)])
  const types = columns.map(([, type]) => type)
  const take = makeColumnTaker(columns.map(([column]) => column))
  return (tenantId, rows) => {
    let at = putHead(head)
    reserve(at, 2)
    at = writeText(tenantId, putInt16(1 + types.length, at))
    const values = take(rows)
    for (let column = 0; column < types.length; column++) at = writeArray(types[column]!, values[column]!, at)
    return end(at)
  }
}

/** Up to the values: whose they are, and the forms that they have. All are texts if none is given. */
function headOf(name: string, formats: readonly number[]): Buffer {
  const start = Buffer.from(`B\0\0\0\0\0${name}\0`)
  const forms = Buffer.from([formats.length, ...formats].flatMap((each) => [each >> 8, each & 0xff]))
  return Buffer.concat([start, forms])
}

function putHead(head: Buffer): number {
  reserve(0, head.length)
  return putBytes(head, 0)
}

function writeValue(value: Value, at: number): number {
  return value === null ? writeNull(at) : writeText(String(value), at)
}

/** Everything is answered as text. */
function end(at: number): Buffer {
  reserve(at, 2 + EXECUTE.length)
  const bound = putInt16(0, at)
  putInt32(bound - 1, 1) // all but the letter that it begins with
  return copyOut(putBytes(EXECUTE, bound))
}
