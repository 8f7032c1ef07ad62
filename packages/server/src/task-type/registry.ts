// What this server knows of the registered types. A creation asks here, not the database: what was read is trusted for half a
// minute, so that a change is effective everywhere within a minute, and at once on the server that made it.
import { createLatest } from '../auth/latest.ts'
import { createTrusted } from '../auth/trusted.ts'
import type { Clock } from '../clock.ts'
import type { JsonObject } from '../engine/model.ts'
import type { TaskType, TaskTypeStore } from '../store/task-types.ts'
import { compileSchema, type PayloadSchema } from './schema.ts'

const TRUST_MS = 30_000
/** Names of types in use on one server, those that are not registered among them. */
const TYPES_MAX = 10_000
const TENANTS_MAX = 10_000
/** A compiled schema may take a megabyte; beyond, those unused longest are compiled again. */
const COMPILED_MAX = 500

export interface TypeRegistry {
  /** At once, where it is known. */
  find(tenantId: string, type: string): TaskType | null | Promise<TaskType | null>
  /** The tenant accepts no types but registered ones. */
  isRegisteredOnly(tenantId: string): boolean | Promise<boolean>
  /** Null where the type has none. */
  schemaOf(type: TaskType): PayloadSchema | null
  put(type: TaskType): Promise<TaskType>
  delete(tenantId: string, type: string): Promise<TaskType | null>
  setRegisteredOnly(tenantId: string, registeredOnly: boolean): Promise<void>
}

export function createTypeRegistry(parts: {
  readonly store: TaskTypeStore
  readonly clock: Pick<Clock, 'now'>
}): TypeRegistry {
  const { store, clock } = parts
  const types = createTrusted({
    read: (key) => store.readType(...namesIn(key)),
    trustMs: TRUST_MS,
    sizeMax: TYPES_MAX,
    clock,
  })
  const tenants = createTrusted({
    read: (tenantId) => store.readRegisteredOnly(tenantId),
    trustMs: TRUST_MS,
    sizeMax: TENANTS_MAX,
    clock,
  })
  const compiled = createLatest<PayloadSchema>(COMPILED_MAX)

  return {
    find: (tenantId, type) => types.get(keyOf(tenantId, type)),
    isRegisteredOnly: tenants.get,
    schemaOf: ({ paramsSchema: text }) => {
      if (text === null) return null
      const known = compiled.get(text)
      if (known !== undefined) return known
      const schema = compileSchema(JSON.parse(text) as JsonObject) // an object, as the contract says
      compiled.set(text, schema)
      return schema
    },
    // Forgotten also when it failed: whether it was committed is not known then.
    put: (type) => store.putType(type).finally(() => types.forget(keyOf(type.tenantId, type.type))),
    delete: (tenantId, type) =>
      store.deleteType(tenantId, type).finally(() => types.forget(keyOf(tenantId, type))),
    setRegisteredOnly: (tenantId, registeredOnly) =>
      store.setRegisteredOnly(tenantId, registeredOnly).finally(() => tenants.forget(tenantId)),
  }
}

/** Ids of tenants hold no spaces. */
function keyOf(tenantId: string, type: string): string {
  return `${tenantId} ${type}`
}

function namesIn(key: string): [tenantId: string, type: string] {
  const at = key.indexOf(' ')
  return [key.slice(0, at), key.slice(at + 1)]
}
