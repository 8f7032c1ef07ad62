// Limits and cursors as tables.
import { describe, expect, test } from 'vitest'
import {
  cutPage,
  type CursorOf,
  decodePosition,
  decodeIdCursor,
  encodeCursor,
  PAGE_BYTES_MAX,
  pageLimit,
} from './page.ts'

const BOUNDS = { defaultLimit: 50, maxLimit: 200 }
const TASK = '0197c5a4-7d2e-7c11-9d3a-5b2f4e8a1c01'

describe('limits', () => {
  test.each([
    [undefined, 50],
    [1, 1],
    [200, 200],
  ])('%s is a page of %i', (limit, size) => {
    expect(pageLimit(limit, BOUNDS)).toBe(size)
  })

  test('one more than the largest is refused with the bounds', () => {
    expect(() => pageLimit(201, BOUNDS)).toThrow(
      expect.objectContaining({ code: 'invalid_input', message: expect.stringContaining('1 to 200') }),
    )
  })
})

describe('cursors', () => {
  test.each(['receipts', 'obligations', 'progress'] as const)('%s: what was written is read', (list) => {
    for (const position of [0, 1, 999_999_999_999_999]) {
      expect(decodePosition(list, encodeCursor(list, position))).toBe(position)
    }
    expect(decodePosition(list, undefined)).toBeNull()
  })

  test('tasks: what was written is read', () => {
    expect(decodeIdCursor('tasks', encodeCursor('tasks', TASK))).toBe(TASK)
    expect(decodeIdCursor('tasks', undefined)).toBeNull()
  })

  test('a cursor can stand in a URL as it is', () => {
    const cursor = encodeCursor('tasks', TASK)
    expect(encodeURIComponent(cursor)).toBe(cursor)
  })

  test.each<[string, string]>([
    ['of another list', encodeCursor('obligations', 1)],
    ['without a position', encodeCursor('receipts', '')],
    ['negative', encodeCursor('receipts', -1)],
    ['a fraction', encodeCursor('receipts', 1.5)],
    ['an exponent', encodeCursor('receipts', '1e3')],
    ['too long for a number', encodeCursor('receipts', '9'.repeat(16))],
    ['with a space', encodeCursor('receipts', ' 1')],
    ['in hexadecimal', encodeCursor('receipts', '0x1')],
    ['padded', `${encodeCursor('receipts', 1)}=`],
    ['in the other alphabet', Buffer.from('receipts:1???>>>').toString('base64')],
    ['with something after it', `${encodeCursor('receipts', 1)}!`],
    ['not base64 at all', '§'],
  ])('%s is refused', (_what, cursor) => {
    const refusal = expect.objectContaining({
      code: 'invalid_input',
      details: expect.objectContaining({ field: 'cursor' }),
    })
    expect(() => decodePosition('receipts', cursor)).toThrow(refusal)
  })

  test.each<[string, string]>([
    ['of another list', encodeCursor('receipts', TASK)],
    ['that is no id', encodeCursor('tasks', 'x')],
    ['in upper case', encodeCursor('tasks', TASK.toUpperCase())],
    ['with more than an id', encodeCursor('tasks', `${TASK}' or 1=1`)],
  ])('a cursor of tasks %s is refused', (_what, cursor) => {
    expect(() => decodeIdCursor('tasks', cursor)).toThrow(expect.objectContaining({ code: 'invalid_input' }))
  })
})

describe('cutting', () => {
  const cursorOf = (last: number) => `after ${last}`

  test.each<[string, number[], { page: number[]; next: string | null }]>([
    ['nothing', [], { page: [], next: null }],
    ['less than a page', [1], { page: [1], next: null }],
    ['exactly a page', [1, 2], { page: [1, 2], next: null }],
    ['one more', [1, 2, 3], { page: [1, 2], next: 'after 2' }],
  ])('%s', (_what, rows, expected) => {
    expect(cutPage(rows, 2, { cursorOf })).toEqual(expected)
  })
})

test.each([
  ['a page that is too heavy ends early', [1, 2, 3], { page: [1], next: 'after 1' }],
  ['one row that is too heavy comes alone', [3, 1], { page: [3], next: 'after 3' }],
  ['the last page may be heavy', [3], { page: [3], next: null }],
])('%s', (_what, rows, expected) => {
  const of = {
    cursorOf: (last: number) => `after ${last}`,
    bytesOf: (row: number) => row * 0.4 * PAGE_BYTES_MAX,
  }
  expect(cutPage(rows, 10, of)).toEqual(expected)
})

test('every list has cursors of its own', () => {
  const lists: CursorOf[] = ['tasks', 'receipts', 'obligations', 'progress']
  expect(new Set(lists.map((list) => encodeCursor(list, 1))).size).toBe(lists.length)
})
