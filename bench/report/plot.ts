// A bar chart of a result as SVG: one panel for each column, bars at the medians, whiskers from the least to the most.
import type { Column, Scenario } from '../scenario.ts'
import { showNumber } from './numbers.ts'
import { type Result, spreadIn } from './result.ts'

const WIDTH = 900
const LABELS = 300
const VALUES = 110
const BAR = 22
const GAP = 10
const HEADING = 34
const SPAN = WIDTH - LABELS - VALUES

const STYLE =
  'text{font:13px system-ui,sans-serif;fill:#222}.title{font-weight:600;font-size:15px}' +
  '.ours{fill:#2563eb}.theirs{fill:#94a3b8}.whisker{stroke:#222;stroke-width:1.5}' +
  '@media(prefers-color-scheme:dark){text{fill:#ddd}.whisker{stroke:#ddd}}'

export function renderPlot(scenario: Scenario, result: Result): string {
  const panelHeight = HEADING + result.rows.length * (BAR + GAP) + GAP
  const panels = scenario.columns.map((column, at) =>
    panel({ column, result, top: HEADING + at * panelHeight }),
  )
  const height = HEADING + scenario.columns.length * panelHeight
  const title = text({ x: 8, y: 22, content: `${result.scenario}: ${scenario.about}`, kind: 'title' })
  const size = `width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}><style>${STYLE}</style>${title}${panels.join('')}</svg>\n`
}

function panel({ column, result, top }: { column: Column; result: Result; top: number }): string {
  const spreads = result.rows.map((row) => spreadIn(row, column))
  const most = Math.max(...spreads.map((spread) => spread?.max ?? 0), Number.MIN_VALUE)
  const x = (value: number) => LABELS + (value / most) * SPAN
  const heading = text({
    x: 8,
    y: top + 20,
    content: `${column.name}, ${column.unit} (${column.better === 'more' ? 'more is better' : 'less is better'})`,
  })
  const bars = result.rows.map((row, at) => {
    const y = top + HEADING + at * (BAR + GAP)
    const middle = y + BAR / 2
    const spread = spreads[at]
    const label = text({ x: LABELS - 8, y: middle + 4, content: row.label, anchor: 'end' })
    if (spread === undefined) return label
    const width = x(spread.median) - LABELS
    const kind = at === 0 ? 'ours' : 'theirs'
    const bar = `<rect class="${kind}" x="${LABELS}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" rx="3"/>`
    const ends = [spread.min, spread.max].map((value) => x(value).toFixed(1))
    const whisker = `<line class="whisker" x1="${ends[0]}" x2="${ends[1]}" y1="${middle}" y2="${middle}"/>`
    const value = text({ x: x(spread.max) + 8, y: middle + 4, content: showNumber(spread.median) })
    return label + bar + whisker + value
  })
  return heading + bars.join('')
}

interface Text {
  readonly x: number
  readonly y: number
  readonly content: string
  readonly kind?: 'title'
  readonly anchor?: 'end'
}

function text({ x, y, content, kind, anchor }: Text): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const attributes = `${kind ? ` class="${kind}"` : ''}${anchor ? ` text-anchor="${anchor}"` : ''}`
  return `<text x="${x.toFixed(1)}" y="${y}"${attributes}>${escaped}</text>`
}
