// The table that a run prints: medians with their spread, ratios, and whether the goals are met.
import type { Goal, Scenario } from '../scenario.ts'
import { showNumber } from './numbers.ts'
import { type MeasuredRow, ratioIn, type Result, spreadIn } from './result.ts'

const COLUMNS_MAX = 3

export function renderTable(scenario: Scenario, result: Result): string {
  const { settings, machine, rows, notes } = result
  const first = rows[0]
  if (first === undefined) return 'Nothing was measured.'
  const heads = scenario.columns.map(({ name, unit }) => `${name} (${unit})`)
  // Many columns are easier to read as lines.
  const lines =
    scenario.columns.length <= COLUMNS_MAX
      ? [
          ['', ...heads.flatMap((head) => [head, scenario.ratio])],
          ...rows.map((row) => [row.label, ...scenario.columns.flatMap((column) => cells(column, row))]),
        ]
      : [
          ['', ...rows.flatMap((row) => [row.label, ...(row === first ? [] : [scenario.ratio])])],
          ...scenario.columns.map((column, at) => [
            heads[at]!,
            ...rows.flatMap((row) => cells(column, row).slice(0, row === first ? 1 : 2)),
          ]),
        ]

  function cells(column: Scenario['columns'][number], row: MeasuredRow): string[] {
    const spread = spreadIn(row, column)
    if (spread === undefined) return ['', '']
    const ratio = row === first ? undefined : ratioIn(scenario, { first: first!, row }, column)
    const range = row.samples.length > 1 ? ` [${showNumber(spread.min)}–${showNumber(spread.max)}]` : ''
    return [showNumber(spread.median) + range, ratio === undefined ? '' : `${showNumber(ratio)} ×`]
  }

  const about = `${settings.scenario}: ${scenario.about}`
  const postgres = machine.postgres ? `, PostgreSQL ${machine.postgres}` : ''
  const where = `${machine.cores} cores (${machine.processor}), Node ${machine.node}${postgres}`
  const how = `count ${settings.count?.toLocaleString('en')}, medians of ${settings.repeat}`
  const goals = (scenario.goals ?? []).flatMap((goal) => judge(goal, { scenario, result, first }))
  return [
    '',
    about,
    `${how}; ${where}`,
    '',
    ...align(lines),
    '',
    ...goals,
    ...notes.map((note) => `note: ${note}`),
  ]
    .join('\n')
    .trimEnd()
}

function align(rows: readonly string[][]): string[] {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
      .join('  ')
      .trimEnd(),
  )
}

function judge(
  goal: Goal,
  { scenario, result, first }: { scenario: Scenario; result: Result; first: MeasuredRow },
): string[] {
  if (goal.store !== undefined && goal.store !== result.settings.store) return []
  return result.rows
    .filter((row) => row !== first && row.label.startsWith(goal.row))
    .flatMap((row) => {
      const ratio = ratioIn(scenario, { first, row }, { name: goal.column })
      if (ratio === undefined) return []
      const [sign, bound] = goal.atLeast === undefined ? ['≤', goal.atMost ?? 0] : ['≥', goal.atLeast]
      const met = sign === '≥' ? ratio >= bound : ratio <= bound
      const [subject, object] = scenario.ratio === 'first ÷ row' ? [first, row] : [row, first]
      const claim = `${goal.column} of ${subject.label} ${sign} ${bound} × ${object.label}`
      return [`goal ${met ? 'met' : 'NOT met'}: ${claim}: ${showNumber(ratio)} ×`]
    })
}
