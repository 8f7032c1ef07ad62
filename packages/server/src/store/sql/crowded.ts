// Tenants that are near their quota of active tasks. Far from it nobody waits for anybody: the sum is checked where it is
// written. Near it two instances could both find room for what fits once, and one would have to decide again; so there they
// count one after the other.

/** A commit carries a thousand commands at most: a few of them at once do not get from here to the quota. */
const NEAR = 4_000

export interface Crowded {
  has(tenantId: string): boolean
  /** What a unit saw; `max` is its quota. */
  saw(tenantId: string, activeTasks: number, max: number): void
}

export function createCrowded(): Crowded {
  const tenants = new Set<string>()
  return {
    has: (tenantId) => tenants.has(tenantId),
    saw: (tenantId, activeTasks, max) => {
      if (activeTasks >= max - Math.min(NEAR, max / 2)) tenants.add(tenantId)
      else tenants.delete(tenantId)
    },
  }
}
