// Tables: aligned, no wider than the terminal, and harmless.
import { expect, test } from 'vitest'
import { type Column, renderFacts, renderTable } from './table.ts'
import { painter } from './text.ts'

interface Row {
  readonly id: string
  readonly about: string
}
const columns: Column<Row>[] = [
  { title: 'ID', text: (row) => row.id, style: () => 'green' },
  { title: 'ABOUT', text: (row) => row.about, shrinks: true },
]
const rows: Row[] = [
  { id: 'a', about: 'short' },
  { id: 'bcd', about: 'a rather long text that does not fit' },
]
const plain = painter(false)

test('columns are aligned and nothing is cut where nobody looks', () => {
  expect(renderTable(rows, columns, { columns: Number.POSITIVE_INFINITY, paint: plain })).toBe(
    ['ID   ABOUT', 'a    short', 'bcd  a rather long text that does not fit'].join('\n'),
  )
})

test('what may shrink is cut to the width of the terminal, ids are not', () => {
  expect(renderTable(rows, columns, { columns: 20, paint: plain })).toBe(
    ['ID   ABOUT', 'a    short', 'bcd  a rather long …'].join('\n'),
  )
  expect(renderTable(rows, columns, { columns: 3, paint: plain })).toContain('bcd  ')
})

test('colours do not shift columns', () => {
  const painted = renderTable(rows, columns, { columns: 80, paint: painter(true) })
  expect(painted).toContain('\u001b[32ma\u001b[39m    short')
})

test('escape sequences and control characters of others do not reach the terminal', () => {
  const nasty: Row[] = [{ id: '\u001b[31mred\u001b[0m', about: 'two\nlines\u0007 \u202Eback' }]
  const text = renderTable(nasty, columns, { columns: 80, paint: plain })
  expect(text.split('\n')).toHaveLength(2)
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  expect(text).not.toMatch(/[\u0000-\u0009\u001b\u202e]/)
})

test('facts without a value are left out, and values of several lines stay in their column', () => {
  expect(
    renderFacts(
      [
        ['a', '1'],
        ['long', '2\n3'],
        ['none', null],
        ['empty', ''],
      ],
      plain,
    ),
  ).toBe('a     1\nlong  2\n      3')
})
