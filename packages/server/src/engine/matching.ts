// Which tasks a claim may take, and in what order (LEASE-2): one definition for engine and stores. SQL says the same in its
// own words.
import type { ClaimFilter } from './command.ts'

export interface Wanted {
  readonly type: string
  readonly capabilities: readonly string[]
}

export interface Ranked {
  readonly taskId: string
  readonly type: string
  readonly priority: number
}

export function fits({ acceptTypes, capabilities }: ClaimFilter, task: Wanted): boolean {
  if (acceptTypes !== null && !acceptTypes.includes(task.type)) return false
  return task.capabilities.every((required) => capabilities.includes(required.toLowerCase()))
}

/** Priority high to low, then preferred types, then oldest first. */
export function bestFirst({ preferredTypes }: ClaimFilter): (a: Ranked, b: Ranked) => number {
  const preferred = new Set(preferredTypes)
  const rank = ({ type }: Ranked) => (preferred.has(type) ? 0 : 1)
  return (a, b) => b.priority - a.priority || rank(a) - rank(b) || compare(a.taskId, b.taskId)
}

export function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
