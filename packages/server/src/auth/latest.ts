// A map of bounded size that forgets what was used longest ago.

export interface Latest<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
  delete(key: string): void
}

export function createLatest<V>(sizeMax: number): Latest<V> {
  // A map keeps its keys in the order in which they were set.
  const entries = new Map<string, V>()
  let newest: string | undefined
  const set = (key: string, value: V) => {
    entries.delete(key)
    entries.set(key, value)
    newest = key
    if (entries.size <= sizeMax) return
    const [oldest] = entries.keys()
    entries.delete(oldest!)
  }
  return {
    get: (key) => {
      const value = entries.get(key)
      // Most often it is the same one again, which stands last already.
      if (value !== undefined && key !== newest) set(key, value)
      return value
    },
    set,
    delete: (key) => void entries.delete(key),
  }
}
