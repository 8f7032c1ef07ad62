// Lanes: the distinct sets of required capabilities. A claim finds from them where it may look. They are only
// ever added, so what this process has seen committed need not be written again.
import type { Task } from '../../engine/model.ts'
import type { Session } from './session.ts'
import { insertLanes } from './statements/tasks.ts'

/** Forgotten beyond this: a lane written twice costs a little, a set that only grows costs memory. */
const LANES_REMEMBERED_MAX = 100_000

export interface Lanes {
  add(session: Session, tenantId: string, created: readonly Task[]): Promise<unknown>
  /** To be called once the transaction that added them has been committed. */
  committed(tenantId: string, created: readonly Task[]): void
}

export function createLanes(): Lanes {
  const known = new Set<string>()
  const keyOf = (tenantId: string, lane: string) => `${tenantId}\n${lane}`
  return {
    add: (session, tenantId, created) => {
      const fresh = new Map<string, string[]>()
      for (const { definition } of created) {
        if (known.has(keyOf(tenantId, definition.lane))) continue
        fresh.set(definition.lane, required(definition.capabilities))
      }
      return insertLanes(
        session,
        tenantId,
        [...fresh].map(([lane, capabilities]) => ({ lane, capabilities })),
      )
    },
    committed: (tenantId, created) => {
      if (known.size > LANES_REMEMBERED_MAX) known.clear()
      for (const { definition } of created) known.add(keyOf(tenantId, definition.lane))
    },
  }
}

function required(capabilities: readonly string[]): string[] {
  return [...new Set(capabilities.map((capability) => capability.toLowerCase()))].toSorted()
}
