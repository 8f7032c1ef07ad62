// How a statement's values travel: the two messages of PostgreSQL's protocol that bind them and have it run. Written here in one
// go: the driver writes each array and each message by itself and copies them together.
import type { ColumnType, Value } from '../sql/session.ts'
import { writeArray, writeElement, writeNull, writeText } from './binary-array.ts'
import { putBytes, putInt16, putInt32, reserve } from './sheet.ts'

/** All rows, of the portal without a name. */
const EXECUTE = Buffer.from('E\0\0\0\u0009\0\0\0\0\0')
const TEXT = 0
const BINARY = 1

/** Writes the messages from there on, and tells where they end. */
export type Message = (at: number) => number

type Binder<V extends unknown[]> = (...values: V) => Message

/** Binds plain values, which travel as text. */
export function makeBinder(name: string): Binder<[readonly Value[]]> {
  const head = headOf(name, [])
  return (values) => (start) => {
    let at = putHead(head, start)
    reserve(at, 2)
    at = putInt16(values.length, at)
    for (const value of values) at = writeValue(value, at)
    return end(at, start)
  }
}

/** Binds a tenant and what its rows have in each column: one array, or the one value of a column that they share. */
export function makeRowBinder(
  name: string,
  types: readonly ColumnType[],
  isShared: (at: number) => boolean,
): Binder<[string, readonly (readonly unknown[])[]]> {
  const head = headOf(name, [TEXT, ...types.map(() => BINARY)])
  const writers = types.map((type, at) => (isShared(at) ? writeFirst(type) : writeAll(type)))
  return (tenantId, values) => (start) => {
    let at = putHead(head, start)
    reserve(at, 2)
    at = writeText(tenantId, putInt16(1 + types.length, at))
    for (let column = 0; column < types.length; column++) at = writers[column]!(values[column]!, at)
    return end(at, start)
  }
}

type ColumnWriter = (values: readonly unknown[], at: number) => number

const writeAll =
  (type: ColumnType): ColumnWriter =>
  (values, at) =>
    writeArray(type, values, at)

const writeFirst =
  (type: ColumnType): ColumnWriter =>
  ([value], at) =>
    writeElement(type, value, at)

/** Up to the values: whose they are, and the forms that they have. All are texts if none is given. */
function headOf(name: string, formats: readonly number[]): Buffer {
  const start = Buffer.from(`B\0\0\0\0\0${name}\0`)
  const forms = Buffer.from([formats.length, ...formats].flatMap((each) => [each >> 8, each & 0xff]))
  return Buffer.concat([start, forms])
}

function putHead(head: Buffer, at: number): number {
  reserve(at, head.length)
  return putBytes(head, at)
}

function writeValue(value: Value, at: number): number {
  return value === null ? writeNull(at) : writeText(String(value), at)
}

/** Everything is answered as text. */
function end(at: number, start: number): number {
  reserve(at, 2 + EXECUTE.length)
  const bound = putInt16(0, at)
  putInt32(bound - start - 1, start + 1) // all but the letter that it begins with
  return putBytes(EXECUTE, bound)
}
