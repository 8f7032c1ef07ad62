// What one run found: kept as JSON, shown as a table and a plot.
import type { Machine } from '../lab/machine.ts'
import type { Column, Figures, Scenario } from '../scenario.ts'
import type { Settings } from '../settings.ts'
import { type Spread, spreadOf } from './statistics.ts'

export interface MeasuredRow {
  readonly label: string
  /** One for each repetition. */
  readonly samples: Figures[]
}

export interface Result {
  readonly scenario: string
  readonly settings: Settings
  readonly machine: Machine
  readonly startedAt: string
  readonly rows: readonly MeasuredRow[]
  readonly notes: readonly string[]
}

/** Nothing where a row does not have the column. */
export function spreadIn({ samples }: MeasuredRow, { name }: Pick<Column, 'name'>): Spread | undefined {
  const values = samples.flatMap((figures) => figures[name] ?? [])
  return values.length === 0 ? undefined : spreadOf(values)
}

export function ratioIn(
  { ratio }: Scenario,
  rows: { first: MeasuredRow; row: MeasuredRow },
  column: Pick<Column, 'name'>,
): number | undefined {
  const first = spreadIn(rows.first, column)?.median
  const own = spreadIn(rows.row, column)?.median
  if (first === undefined || own === undefined) return undefined
  return ratio === 'first ÷ row' ? first / own : own / first
}
