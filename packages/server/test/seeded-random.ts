// Chance from a seed: the same seed gives the same run, and so a failure can be repeated.
import type { Random } from '../src/ids.ts'

export function createSeededRandom(seed: number): Random {
  let state = seed >>> 0
  // mulberry32: small, fast, and good enough to choose between branches.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { below: (bound) => Math.floor(next() * bound) }
}
