// Lists with optional filters: the text of a statement depends on which filters are there, never on their
// values.
import type { Value } from './session.ts'

export interface Filter {
  /** Which filters are there: with it a statement is prepared once for each combination. */
  readonly shape: string
  readonly conditions: readonly string[]
  readonly params: readonly Value[]
}

/**
 * `?` in a condition stands for its value, if it needs it. A value of null or undefined leaves the condition
 * out.
 */
export function buildFilter(
  start: readonly Value[],
  members: Readonly<Record<string, readonly [condition: string, value: Value | undefined]>>,
): Filter {
  const params = [...start]
  const conditions: string[] = []
  const shape: string[] = []
  for (const [name, [condition, value]] of Object.entries(members)) {
    if (value === null || value === undefined) continue
    if (condition.includes('?')) params.push(value)
    conditions.push(condition.replaceAll('?', `$${params.length}`))
    shape.push(name)
  }
  return { shape: shape.join('_'), conditions, params }
}

export function allOf(conditions: readonly string[]): string {
  return conditions.map((condition) => `and ${condition}`).join(' ')
}
