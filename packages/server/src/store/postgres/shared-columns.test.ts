// Which columns rows share, and how many forms a statement gets of that.
import { expect, test } from 'vitest'
import { createForms, isIn, NONE, sharedBy } from './shared-columns.ts'

const list = ['a']

test.each<{ says: string; columns: unknown[][]; shared: number[] }>([
  {
    says: 'what is alike is shared, but for the column that counts the rows',
    columns: [
      ['a', 'a'],
      [1, 1],
      [false, false],
    ],
    shared: [1, 2],
  },
  {
    says: 'what differs anywhere is not',
    columns: [
      ['a', 'b', 'c'],
      [1, 1, 2],
      [1, 2, 1],
      [1, 1, 1],
    ],
    shared: [3],
  },
  {
    says: 'nothing is a value too, given or not',
    columns: [
      ['a', 'b'],
      [null, undefined],
      [undefined, undefined],
      [null, 0],
      [0, null],
    ],
    shared: [1, 2],
  },
  {
    says: 'a column that begins with nothing does not count the rows',
    columns: [
      [null, null],
      [null, 'b'],
      ['a', 'a'],
      ['c', 'c'],
    ],
    shared: [0, 3],
  },
  {
    says: 'rows of nothing share nothing, or nobody would know how many they are',
    columns: [[null, null], [undefined]],
    shared: [],
  },
  {
    says: 'lists and objects are alike where they are the same',
    columns: [
      ['a', 'b'],
      [list, list],
      [['a'], ['a']],
    ],
    shared: [1],
  },
  { says: 'a single row shares all but one', columns: [['a'], [null], [1]], shared: [1, 2] },
])('$says', ({ columns, shared }) => {
  const found = sharedBy(columns)
  expect(columns.map((_, at) => at).filter((at) => isIn(found, at))).toEqual(shared)
})

test('beyond what fits into a set of columns nothing is shared', () => {
  const columns = Array.from({ length: 40 }, () => ['a', 'a'])
  const found = sharedBy(columns)
  const shared = columns.map((_, at) => at).filter((at) => isIn(found, at))
  expect(shared).toEqual(Array.from({ length: 30 }, (_, at) => at + 1))
})

test('the forms of a statement have an end, and then the nearest serves that shares nothing else', () => {
  const made: number[] = []
  const formOf = createForms((shared) => {
    made.push(shared)
    return shared
  })
  for (let shared = 1; shared < 1_000; shared += 1) formOf(shared)
  expect(made).toHaveLength(12)
  expect(formOf(0b111)).toBe(0b111)
  expect(formOf(0b1_0000_0110)).toBe(0b110)
  expect(formOf(0b1_0000_0000)).toBe(NONE)
  expect(made).toHaveLength(12)
})
