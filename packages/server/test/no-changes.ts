// Changes that change nothing: what tests write begins from here, so that a new kind of change is added once.
import type { Changes, Needs } from '../src/engine/unit.ts'

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

export const NO_NEEDS: Needs = {
  commands: 0,
  taskIds: new Set(),
  peekedTaskIds: new Set(),
  leaseIds: new Set(),
  heldTaskIds: new Set(),
  idempotencyHashes: new Set(),
  receiptIds: new Set(),
  receiptKeys: new Set(),
  obligationsOf: new Set(),
  concurrencyKeys: new Set(),
  claims: [],
  countedWorkers: new Set(),
  claimsOnly: false,
  countTenantLeases: false,
  activeTasksMax: null,
}
