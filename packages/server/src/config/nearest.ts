// The closest known name to one that was mistyped, for "Did you mean …?".

/** A name that needs more edits than this share of its length is another name, not a slip. */
const EDITS_SHARE_MAX = 0.4

export function nearestName(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let fewest = Math.max(1, Math.floor(name.length * EDITS_SHARE_MAX)) + 1
  for (const candidate of known) {
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (edits < fewest) {
      fewest = edits
      best = candidate
    }
  }
  return best
}

/** " Did you mean X?", or nothing where no name is near. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known)
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`
}

/** Letters left out, added, replaced or swapped with their neighbour, each counted as one. */
function editDistance(a: string, b: string): number {
  const table = [Array.from({ length: b.length + 1 }, (_, column) => column)]
  for (let row = 1; row <= a.length; row += 1) {
    const above = table[row - 1]!
    const current = [row]
    table.push(current)
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = above[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1)
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      const swap = swapped ? table[row - 2]![column - 2]! + 1 : Number.POSITIVE_INFINITY
      current.push(Math.min(replaced, swap, above[column]! + 1, current[column - 1]! + 1))
    }
  }
  return table[a.length]![b.length]!
}
