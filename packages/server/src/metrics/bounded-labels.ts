// Names that users choose become labels only up to a bound: every label value is a time series for ever.

/** More types than this are counted together as "other". */
export const LABELS_MAX = 100

export function boundedLabels(max = LABELS_MAX): (name: string) => string {
  const known = new Set<string>()
  return (name) => {
    if (known.has(name)) return name
    if (known.size >= max) return 'other'
    known.add(name)
    return name
  }
}
