// Who waits for work, grouped by what they wait for, and whose turn it is.
import type { ClaimCommand, ClaimFilter } from './command.ts'
import { filterKeyOf, type Grant } from './decide/claim.ts'
import { fits, type Wanted } from './matching.ts'

/** Of those that wait for the same, this many are offered work in one commit. */
export const WAITERS_PER_ROUND_MAX = 32

export interface Waiter {
  readonly command: ClaimCommand
  /** Its number among all who have ever waited. */
  readonly turn: number
  readonly answer: (grants: readonly Grant[]) => void
  /** On its way in a commit: no other may carry it. */
  busy: boolean
}

/** Those who wait for the same, in the order in which they came. */
export interface Group {
  readonly key: string
  readonly filter: ClaimFilter
  readonly waiters: Set<Waiter>
}

/** By the key of their filter. */
export type Groups = Map<string, Group>

export function groupFor(groups: Groups, command: ClaimCommand): Group {
  const key = filterKeyOf(command)
  let group = groups.get(key)
  if (group === undefined) {
    group = { key, filter: command.filter, waiters: new Set() }
    groups.set(key, group)
  }
  return group
}

/** Another may have taken its place since. */
export function forget(groups: Groups, group: Group): void {
  if (groups.get(group.key) === group) groups.delete(group.key)
}

export function waitersOf(groups: Groups): Waiter[] {
  return [...groups.values()].flatMap(({ waiters }) => [...waiters])
}

/** By who waits longest in each: no group is passed over for ever because another is never empty. */
export function inTurn(groups: Groups): Group[] {
  return [...groups.values()].toSorted((a, b) => firstTurn(a) - firstTurn(b))
}

function firstTurn({ waiters }: Group): number {
  const [first] = waiters
  return first?.turn ?? Infinity
}

/** As many as could take all that is coming: each costs the commit a look, and whoever created the tasks waits for it. */
export function ridersOf(groups: Groups, coming: readonly Wanted[]): Waiter[] {
  const riders: Waiter[] = []
  let open = coming
  for (const { filter, waiters } of open.length === 0 ? [] : inTurn(groups)) {
    const fitting = open.filter((task) => fits(filter, task))
    let taken = 0
    for (const waiter of waiters) {
      if (taken >= fitting.length || riders.length >= WAITERS_PER_ROUND_MAX) break
      if (waiter.busy) continue
      riders.push(waiter)
      taken += waiter.command.maxTasks
    }
    const spokenFor = new Set(fitting.slice(0, taken))
    open = open.filter((task) => !spokenFor.has(task))
  }
  return riders
}
