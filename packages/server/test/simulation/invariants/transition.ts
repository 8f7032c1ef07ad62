// One commit as the witness saw it: what was there, what was asked and answered, what was written, what is there now.
import type { Command } from '../../../src/engine/command.ts'
import type { Result } from '../../../src/engine/decide/index.ts'
import type { Lease } from '../../../src/engine/model.ts'
import type { Changes } from '../../../src/engine/unit.ts'
import type { State } from '../state.ts'

export interface Transition {
  readonly before: State
  readonly after: State
  /** Every lease that was ever granted, as it was before. */
  readonly leases: ReadonlyMap<string, Lease>
  readonly commands: readonly Command[]
  readonly results: readonly Result[]
  /** What was written, which is not what was decided where a bug was planted between the two. */
  readonly changes: Changes
  /** What the instance's clock said under the lock. */
  readonly instanceNow: number
  /** What no instance knows. */
  readonly trueNow: number
  readonly skewMs: number
  /** The tenant has a limit of leases: a claim may be given less than there is. */
  readonly limited: boolean
}

export function pairs({ commands, results }: Transition): { command: Command; result: Result }[] {
  return commands.map((command, index) => ({ command, result: results[index]! }))
}
