// Leases of a type that has `max_concurrent` are counted under a concurrency key of the type: one mechanism for both limits.
// The key is the task's for good, the limit is that of the type at the moment, so that all its tasks have the same.

const PREFIX = 'asyncgate:type:'

export function keyOfType(type: string): string {
  return `${PREFIX}${type}`
}

/** Callers may not name such keys: they would count against a type's limit. */
export function typeOfKey(concurrencyKey: string | null): string | null {
  return concurrencyKey?.startsWith(PREFIX) ? concurrencyKey.slice(PREFIX.length) : null
}
