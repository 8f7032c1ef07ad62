// What was read is trusted for a while, so that asking again costs nothing; many who ask at once for what is not known ask
// once. A value that this server changes itself is forgotten, and so is what was being read of it meanwhile.
import type { Clock } from '../clock.ts'
import { createLatest } from './latest.ts'

export interface Trusted<V> {
  /** At once, where it is known. */
  get(key: string): V | Promise<V>
  forget(key: string): void
}

export interface TrustedParts<V> {
  readonly read: (key: string) => Promise<V>
  readonly trustMs: number
  /** Sooner than it must be: it is read again in the background, and stands in for what cannot be read. */
  readonly again?: { readonly afterMs: number; readonly onError: (error: unknown) => void }
  /** Beyond, those unused longest are read again. */
  readonly sizeMax: number
  readonly clock: Pick<Clock, 'now'>
}

interface Known<V> {
  readonly value: V
  readonly readAt: number
}

export function createTrusted<V>({ read, trustMs, again, sizeMax, clock }: TrustedParts<V>): Trusted<V> {
  const known = createLatest<Known<V>>(sizeMax)
  const underWay = new Map<string, Promise<V>>()

  function readOnce(key: string, last?: Known<V>): Promise<V> {
    const readAt = clock.now()
    const isWanted = () => underWay.get(key) === reading
    const keep = (value: V) => {
      if (isWanted()) known.set(key, { value, readAt })
      return value
    }
    const standIn = (error: unknown) => {
      if (last === undefined || again === undefined) throw error
      again.onError(error)
      return last.value
    }
    const reading: Promise<V> = read(key)
      .then(keep, standIn)
      .finally(() => void (isWanted() && underWay.delete(key)))
    underWay.set(key, reading)
    return reading
  }

  return {
    get: (key) => {
      const last = known.get(key)
      const ageMs = last === undefined ? Number.POSITIVE_INFINITY : clock.now() - last.readAt
      if (last !== undefined && ageMs < (again?.afterMs ?? trustMs)) return last.value
      const reading = underWay.get(key) ?? readOnce(key, last)
      return last !== undefined && ageMs < trustMs ? last.value : reading
    },
    forget: (key) => {
      known.delete(key)
      underWay.delete(key)
    },
  }
}
