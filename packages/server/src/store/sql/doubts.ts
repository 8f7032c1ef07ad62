// Tenants for whom a guess has just been wrong. A wrong guess costs a commit as much again; where it is wrong once it may be
// wrong in every commit, so a tenant's next commits do not guess.

const COMMITS_IN_DOUBT = 50

export interface Doubts {
  raise(tenantId: string): void
  /** Asked once for each commit: each brings the end of the doubt nearer. */
  isIn(tenantId: string): boolean
}

export function createDoubts(): Doubts {
  /** By tenant, how many commits are still to look. */
  const doubted = new Map<string, number>()
  return {
    raise: (tenantId) => void doubted.set(tenantId, COMMITS_IN_DOUBT),
    isIn: (tenantId) => {
      const left = doubted.get(tenantId)
      if (left === undefined) return false
      if (left > 1) doubted.set(tenantId, left - 1)
      else doubted.delete(tenantId)
      return true
    },
  }
}
