// What is known of a tenant's queue without a look: that nothing is ready for claims of a kind. A look has found that, nothing
// has become ready since as far as this instance has heard, and no delay has ended.
import type { ClaimCommand } from './command.ts'
import { filterKeyOf } from './decide/claim.ts'

/** Hints from other instances can be lost; this bounds what that costs. */
export const POLL_MS = 1_000

/** Forgotten beyond this: a look costs a little, a map that only grows costs memory. */
const FILTERS_MAX = 100

export interface Readiness {
  /** Grows whenever something may have become ready: so a look that began before says nothing. */
  wakes: number
  /** `new`: there may be one that nobody has looked up yet; `known`: the next ends at `dueAt`. */
  delays: 'new' | 'sought' | 'known'
  dueAt: number
  /** By filter, when a look began that found nothing; since the last wake. */
  readonly fruitless: Map<string, number>
}

export function newReadiness(): Readiness {
  return { wakes: 0, delays: 'new', dueAt: Infinity, fruitless: new Map() }
}

export function noteWake(readiness: Readiness): void {
  readiness.wakes += 1
  readiness.fruitless.clear()
}

/** `wakes` and `at` are of when the look began. */
export function noteFruitless(
  { wakes, fruitless }: Readiness,
  command: ClaimCommand,
  look: { readonly wakes: number; readonly at: number },
): void {
  if (look.wakes !== wakes) return
  if (fruitless.size >= FILTERS_MAX) fruitless.clear()
  fruitless.set(filterKeyOf(command), look.at)
}

export function isKnownEmpty(readiness: Readiness, command: ClaimCommand, now: number): boolean {
  const { delays, dueAt, fruitless } = readiness
  if (delays !== 'known' || now >= dueAt || fruitless.size === 0) return false
  const lookedAt = fruitless.get(filterKeyOf(command))
  // Before that, where the clock was set back.
  return lookedAt !== undefined && lookedAt <= now && now < lookedAt + POLL_MS
}
