// Changes that change nothing: what tests write begins from here, so that a new kind of change is added once.
import type { Changes } from '../src/engine/unit.ts'

export const NO_CHANGES: Changes = {
  createdTasks: [],
  changedTasks: [],
  grantedLeases: [],
  changedLeases: [],
  receipts: [],
  progress: [],
  timers: [],
  firedTimers: [],
  dependencies: [],
  endedDependencies: [],
  settledDependents: [],
  sightings: [],
}
