// How the fields of an answer become a row.
import { types } from 'pg'
import { expect, test } from 'vitest'
import { rowReader } from './row-reader.ts'

const { BOOL, INT4, INT8, JSON: JSON_TYPE, TEXT, UUID } = types.builtins
const TEXT_ARRAY = 1009

const ID = '01890a5d-ac96-774b-bcce-b302099a8057'

test('each column is read by its type, and by its name', () => {
  const read = rowReader([
    { name: 'task_id', dataTypeID: UUID },
    { name: 'attempt', dataTypeID: INT4 },
    { name: 'at', dataTypeID: INT8 },
    { name: 'payload', dataTypeID: JSON_TYPE },
    { name: 'dead_letter', dataTypeID: BOOL },
    { name: 'tags', dataTypeID: TEXT_ARRAY },
    { name: 'a "quoted"\nname', dataTypeID: TEXT },
  ])
  expect(read([ID, '3', '1790000000000', '{"a":1}', 't', '{a,"b c"}', 'it is'])).toEqual({
    task_id: ID,
    attempt: 3,
    at: 1_790_000_000_000,
    payload: '{"a":1}',
    dead_letter: true,
    tags: ['a', 'b c'],
    'a "quoted"\nname': 'it is',
  })
  expect(read([null, null, null, null, null, null, null])).toEqual({
    task_id: null,
    attempt: null,
    at: null,
    payload: null,
    dead_letter: null,
    tags: null,
    'a "quoted"\nname': null,
  })
})

test('what is described again is not made again; another type is another reader', () => {
  const columns = [{ name: 'n', dataTypeID: INT4 }]
  expect(rowReader(columns)).toBe(rowReader([...columns]))
  expect(rowReader([{ name: 'n', dataTypeID: TEXT }])(['1'])).toEqual({ n: '1' })
})
