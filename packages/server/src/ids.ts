// Identity and chance as dependencies, so that the simulation can replay both from a seed.
import { randomBytes, randomInt } from 'node:crypto'
import { type Clock, systemClock } from './clock.ts'

export interface Random {
  /** An integer in [0, bound). */
  below(bound: number): number
}

export interface Ids {
  /** A UUIDv7 of that time; within one millisecond ids grow, so that order of ids is order of creation. */
  next(nowMs?: number): string
}

export const systemRandom: Random = { below: (bound) => (bound <= 1 ? 0 : randomInt(bound)) }

/** Room to count upwards within a millisecond before the 42-bit counter would overflow. */
const COUNTER_SEED_BITS = 41
const TAIL_POOL_BYTES = 4_096

export function createIds({ clock, random }: { clock: Clock; random: Random }): Ids {
  const tail = random === systemRandom ? pooledTail() : () => random.below(2 ** 32)
  let lastMs = 0
  let counter = 0
  return {
    next: (nowMs = clock.now()) => {
      if (nowMs > lastMs) {
        lastMs = nowMs
        counter = random.below(2 ** 32) * 2 ** (COUNTER_SEED_BITS - 32)
      } else {
        counter += 1
      }
      return uuid7(lastMs, counter, tail())
    },
  }
}

export const systemIds: Ids = createIds({ clock: systemClock, random: systemRandom })

/** 48 bits of time, then a 42-bit counter (12 before the variant, 30 after), then 32 random bits. */
function uuid7(ms: number, counter: number, tail: number): string {
  const time = ms.toString(16).padStart(12, '0')
  const high = Math.floor(counter / 2 ** 30)
  const low = counter % 2 ** 30
  const b = (0x7000 | high).toString(16)
  const c = (0x8000 | Math.floor(low / 2 ** 16)).toString(16)
  const d = (low % 2 ** 16).toString(16).padStart(4, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-${b}-${c}-${d}${tail.toString(16).padStart(8, '0')}`
}

/** One call for random bytes per thousand ids: asking for each costs more than the rest of the id. */
function pooledTail(): () => number {
  let pool = Buffer.alloc(0)
  let used = 0
  return () => {
    if (used + 4 > pool.length) {
      pool = randomBytes(TAIL_POOL_BYTES)
      used = 0
    }
    used += 4
    return pool.readUInt32BE(used - 4)
  }
}
