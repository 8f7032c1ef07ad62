// Rows for people: aligned columns that fit the terminal.
import { lengthOf, type Paint, safe, truncate } from './text.ts'

export interface Column<Row> {
  readonly title: string
  readonly text: (row: Row) => string
  /** May be cut when the terminal is narrow; ids never are, since people copy them. */
  readonly shrinks?: true
  readonly style?: (row: Row) => Parameters<Paint>[0]
}

export interface TableLayout {
  readonly columns: number
  readonly paint: Paint
}

const GAP = '  '
/** Narrower than this a cut column says nothing. */
const SHRUNK_WIDTH_MIN = 6

export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  layout: TableLayout,
): string {
  const cells = rows.map((row) => columns.map((column) => safe(column.text(row))))
  const widths = fit(naturalWidths(cells, columns), columns, layout.columns)
  const line = (texts: readonly string[], paintCell: (text: string, index: number) => string) =>
    texts
      .map((text, index) => {
        const shown = truncate(text, widths[index]!)
        // Padded before it is painted: escape sequences have no width. The last column needs no padding.
        const last = index === texts.length - 1
        return paintCell(shown, index) + (last ? '' : ' '.repeat(widths[index]! - lengthOf(shown)))
      })
      .join(GAP)
      .trimEnd()
  const header = line(
    columns.map((column) => column.title),
    (text) => layout.paint('dim', text),
  )
  const body = cells.map((texts, at) =>
    line(texts, (text, index) => {
      const style = columns[index]!.style?.(rows[at]!)
      return style === undefined ? text : layout.paint(style, text)
    }),
  )
  return [header, ...body].join('\n')
}

function naturalWidths<Row>(cells: readonly string[][], columns: readonly Column<Row>[]): number[] {
  return columns.map((column, index) =>
    Math.max(column.title.length, ...cells.map((row) => lengthOf(row[index]!))),
  )
}

/** Takes what is too much from the widest column that may shrink, until the line fits. */
function fit<Row>(natural: readonly number[], columns: readonly Column<Row>[], available: number): number[] {
  const widths = [...natural]
  const total = () => widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1)
  while (total() > available) {
    let widest = -1
    for (const [index, column] of columns.entries()) {
      if (!column.shrinks || widths[index]! <= SHRUNK_WIDTH_MIN) continue
      if (widest < 0 || widths[index]! > widths[widest]!) widest = index
    }
    if (widest < 0) break
    widths[widest]! -= 1
  }
  return widths
}

/** `name  value` lines; values may have several lines of their own. */
export function renderFacts(
  facts: readonly (readonly [string, string | null | undefined])[],
  paint: Paint,
): string {
  const shown = facts.filter((fact): fact is readonly [string, string] => fact[1] != null && fact[1] !== '')
  const width = Math.max(...shown.map(([name]) => name.length))
  return shown
    .map(([name, value]) => {
      const lines = value.replaceAll('\n', `\n${' '.repeat(width + GAP.length)}`)
      return `${paint('dim', name.padEnd(width))}${GAP}${lines}`
    })
    .join('\n')
}
