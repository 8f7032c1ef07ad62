// What the database reads from an array is what was written into it.
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ELEMENTS, writeArray } from '../../src/store/postgres/binary-array.ts'
import { takeSheet, writeOn } from '../../src/store/postgres/sheet.ts'
import type { ColumnType } from '../../src/store/sql/session.ts'
import { createDatabase, type TestDatabase } from '../database.ts'

let database: TestDatabase
let client: Client

beforeAll(async () => {
  database = await createDatabase()
  client = new Client({ connectionString: database.url })
  await client.connect()
})

afterAll(async () => {
  await client.end()
  await database.drop()
})

/** Which the driver writes itself. */
const LENGTH_BYTES = 4

async function readBack(type: ColumnType, values: readonly unknown[]): Promise<(string | null)[]> {
  const sheet = takeSheet()
  writeOn(sheet, (at) => writeArray(type, values, at))
  const { rows } = await client.query<{ value: string | null }>(
    `select e::text as value from unnest($1::${ELEMENTS[type].name}[]) as u(e)`,
    [sheet.bytes.subarray(LENGTH_BYTES, sheet.end)],
  )
  return rows.map(({ value }) => value)
}

const LONG = 'ü'.repeat(100_000)
const IDS = ['01234567-89ab-7cde-8f01-23456789abcd', 'ffffffff-ffff-ffff-ffff-ffffffffffff']

test.each<{ type: ColumnType; values: readonly unknown[]; read: readonly (string | null)[] }>([
  {
    type: 'text',
    values: ['', 'a', 'a', null, 'a', '"quo\\ted",{}', 'nul', 'null', '😀', LONG, 'end'],
    read: ['', 'a', 'a', null, 'a', '"quo\\ted",{}', 'nul', 'null', '😀', LONG, 'end'],
  },
  {
    type: 'address',
    values: ['(0,1)', '(4294967294,65535)', null],
    read: ['(0,1)', '(4294967294,65535)', null],
  },
  { type: 'uuid', values: [...IDS, null, IDS[1]], read: [...IDS, null, IDS[1]!] },
  {
    type: 'hex',
    values: ['', '00ff', '00ff', null, 'ab'.repeat(32)],
    read: ['\\x', '\\x00ff', '\\x00ff', null, `\\x${'ab'.repeat(32)}`],
  },
  {
    type: 'int',
    values: [0, -1, 2 ** 31 - 1, -(2 ** 31), null],
    read: ['0', '-1', '2147483647', '-2147483648', null],
  },
  {
    type: 'bigint',
    values: [0, -1, 2 ** 32, -(2 ** 32) - 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, null],
    read: ['0', '-1', '4294967296', '-4294967297', '9007199254740991', '-9007199254740991', null],
  },
  { type: 'boolean', values: [true, false, null], read: ['true', 'false', null] },
  {
    type: 'json',
    values: [{ a: ['"', '\\', 'é'] }, [], 'text'],
    read: ['{"a":["\\"","\\\\","é"]}', '[]', '"text"'],
  },
  { type: 'int', values: [null, null], read: [] },
  { type: 'texts', values: [['a', '"b\\'], []], read: ['{"a","\\"b\\\\"}', '{}'] },
])('an array of $type is read as it was written', async ({ type, values, read }) => {
  expect(await readBack(type, values)).toEqual(read)
})

test.each([
  '',
  'z',
  IDS[0]!.replace('a', 'z'),
  IDS[0]!.replace('a', 'é'),
  `${IDS[0]}0`,
  IDS[0]!.slice(1),
  '-'.repeat(36),
])('what is no id is refused: %j', (text) => {
  expect(() => writeArray('uuid', [text], 0)).toThrow('not an id')
})

test.each<{ type: ColumnType; value: number }>([
  { type: 'int', value: 2 ** 31 },
  { type: 'int', value: -(2 ** 31) - 1 },
  { type: 'int', value: Number.NaN },
  { type: 'bigint', value: 2 ** 63 },
  { type: 'bigint', value: Number.NEGATIVE_INFINITY },
])('a number that has no room is refused: $type $value', ({ type, value }) => {
  expect(() => writeArray(type, [value], 0)).toThrow('out of range')
})
