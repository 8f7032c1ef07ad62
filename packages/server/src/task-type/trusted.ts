// What was read is trusted for a while, so that asking again costs nothing; many who ask at once for what is not known ask
// once. A value that this server changes itself is forgotten, and so is what was being read of it meanwhile.
import { createLatest } from '../auth/latest.ts'
import type { Clock } from '../clock.ts'

export interface Trusted<V> {
  get(key: string): Promise<V>
  forget(key: string): void
}

export interface TrustedParts<V> {
  readonly read: (key: string) => Promise<V>
  readonly trustMs: number
  /** Beyond, those unused longest are read again. */
  readonly sizeMax: number
  readonly clock: Pick<Clock, 'now'>
}

export function createTrusted<V>({ read, trustMs, sizeMax, clock }: TrustedParts<V>): Trusted<V> {
  const known = createLatest<{ readonly value: V; readonly readAt: number }>(sizeMax)
  const underWay = new Map<string, Promise<V>>()

  async function readAndKeep(key: string): Promise<V> {
    const readAt = clock.now()
    const reading = read(key)
    underWay.set(key, reading)
    try {
      const value = await reading
      if (underWay.get(key) === reading) known.set(key, { value, readAt })
      return value
    } finally {
      if (underWay.get(key) === reading) underWay.delete(key)
    }
  }

  return {
    get: async (key) => {
      const last = known.get(key)
      if (last !== undefined && clock.now() - last.readAt < trustMs) return last.value
      return underWay.get(key) ?? readAndKeep(key)
    },
    forget: (key) => {
      known.delete(key)
      underWay.delete(key)
    },
  }
}
