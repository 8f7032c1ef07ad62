// Every choice of a run, from one seed: the same seed makes the same choices.
import type { Random } from '../../src/ids.ts'
import { createSeededRandom } from '../seeded-random.ts'

export interface Chance extends Random {
  percent(likelihood: number): boolean
  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number
  pick<T>(list: readonly T[]): T
  /** One of the keys, as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Partial<Record<K, number>>>): K
  /** A stream of its own, so that what one part draws does not change what another gets. */
  fork(): Random
}

export function createChance(seed: number): Chance {
  const random = createSeededRandom(Math.imul(seed, 0x9e37_79b1) ^ 0x5eed)
  const below = (bound: number) => random.below(bound)
  return {
    below,
    percent: (likelihood) => below(100) < likelihood,
    between: (low, high) => low + below(high - low + 1),
    pick: (list) => list[below(list.length)]!,
    weighted: (weights) => weigh(weights, below),
    fork: () => createSeededRandom(below(2 ** 32)),
  }
}

function weigh<K extends string>(
  weights: Readonly<Partial<Record<K, number>>>,
  below: (bound: number) => number,
): K {
  const entries = Object.entries(weights) as [K, number][] // the type's own keys and values
  const total = entries.reduce((sum, [, weight]) => sum + weight, 0)
  let left = below(total)
  for (const [key, weight] of entries) {
    left -= weight
    if (left < 0) return key
  }
  throw new Error('nothing to choose from')
}
