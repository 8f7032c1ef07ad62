// The registry of task types in memory.
import type { TaskTypeStore } from '../task-types.ts'
import type { Tenant } from './tenant.ts'

export function createMemoryTaskTypes(tenantOf: (tenantId: string) => Tenant): TaskTypeStore {
  return {
    readType: async (tenantId, type) => tenantOf(tenantId).types.get(type) ?? null,
    listTypes: async ({ tenantId, after, limit }) =>
      [...tenantOf(tenantId).types.values()]
        .filter(({ type }) => after === null || Buffer.compare(Buffer.from(type), Buffer.from(after)) > 0)
        .toSorted((a, b) => Buffer.compare(Buffer.from(a.type), Buffer.from(b.type)))
        .slice(0, limit),
    putType: async (type) => {
      const { types } = tenantOf(type.tenantId)
      const kept = { ...type, createdAt: types.get(type.type)?.createdAt ?? type.createdAt }
      types.set(type.type, kept)
      return kept
    },
    deleteType: async (tenantId, type) => {
      const { types } = tenantOf(tenantId)
      const was = types.get(type) ?? null
      types.delete(type)
      return was
    },
    readRegisteredOnly: async (tenantId) => tenantOf(tenantId).settings.registeredOnly,
    setRegisteredOnly: async (tenantId, registeredOnly) => {
      tenantOf(tenantId).settings.registeredOnly = registeredOnly
    },
  }
}
