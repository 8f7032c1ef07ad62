// What all rows of a statement have in common travels once: whose tasks they are, when they were granted, that none of them has
// failed. A statement has a form for each set of columns that is shared so.

/** A set of columns, by their places: one bit for each. */
export type ColumnSet = number

export const NONE: ColumnSet = 0

/** Those of a number without a sign. No statement of ours has more. */
const COLUMNS_MAX = 31

export function isIn(columns: ColumnSet, at: number): boolean {
  return at < COLUMNS_MAX && (columns & (1 << at)) !== 0
}

/** In which columns all rows have the same value. One with values for all of them stays a list: it says how many rows there are. */
export function sharedBy(columns: readonly (readonly unknown[])[]): ColumnSet {
  let shared = NONE
  let counts = -1
  for (let at = 0; at < columns.length && at < COLUMNS_MAX; at += 1) {
    const values = columns[at]!
    if (counts < 0 && values[0] != null) counts = at
    else if (areAlike(values)) shared |= 1 << at
  }
  return counts < 0 ? NONE : shared
}

function areAlike(values: readonly unknown[]): boolean {
  const [first = null] = values
  for (let at = 1; at < values.length; at += 1) {
    if ((values[at] ?? null) !== first) return false
  }
  return true
}

/** Each is planned and kept by every connection. */
const FORMS_MAX = 12

/** Once there are as many as that, the known form that comes nearest serves: it shares nothing that these rows do not. */
export function createForms<F>(make: (shared: ColumnSet) => F): (shared: ColumnSet) => F {
  const forms = new Map([[NONE, make(NONE)]])
  return (shared) => {
    const found = forms.get(shared)
    if (found !== undefined) return found
    if (forms.size >= FORMS_MAX) return forms.get(nearest(forms.keys(), shared))!
    const made = make(shared)
    forms.set(shared, made)
    return made
  }
}

function nearest(known: Iterable<ColumnSet>, shared: ColumnSet): ColumnSet {
  let best = NONE
  for (const columns of known) {
    if ((columns & ~shared) === 0 && sizeOf(columns) > sizeOf(best)) best = columns
  }
  return best
}

function sizeOf(columns: ColumnSet): number {
  let size = 0
  for (let rest = columns; rest !== NONE; rest &= rest - 1) size += 1
  return size
}
