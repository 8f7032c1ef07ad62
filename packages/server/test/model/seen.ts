// Everything that a store lets a reader see of one tenant, in a form that two stores can be compared by.
import type { Principal } from '../../src/engine/model.ts'
import { createStateReader } from '../simulation/state.ts'
import type { Side } from './side.ts'

const EVERYTHING = 100_000

export async function see(
  { store, tenantId }: Side,
  of: { principals: readonly Principal[]; now: number; keys: readonly string[] },
) {
  const { principals, now, keys } = of
  const here = (found: readonly { tenantId: string; taskId: string }[]) =>
    found
      .filter((row) => row.tenantId === tenantId)
      .map(({ taskId }) => taskId)
      .toSorted()
  const [state, leases, timers, dependents, nextEligibleAt, active, relationships] = await Promise.all([
    createStateReader(store, { tenantId, principals })(),
    store.dueLeases(now, EVERYTHING),
    store.dueTimers(now, EVERYTHING),
    store.dueDependents(EVERYTHING),
    store.nextEligibleAt(tenantId),
    Promise.all(keys.map((key) => store.countActive(tenantId, key))),
    Promise.all(principals.map((principal) => store.readRelationship(tenantId, principal))),
  ])
  return {
    tasks: [...state.tasks.values()],
    ledger: state.ledger,
    open: [...state.open],
    due: { leases: here(leases), timers: here(timers), dependents: here(dependents) },
    nextEligibleAt,
    active,
    relationships: relationships.map((known) => known && { ...known, instanceId: null }),
  }
}
