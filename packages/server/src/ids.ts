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
  const uuid7 = createUuid7()
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

const DIGITS = Buffer.from('0123456789abcdef')

/**
 * 48 bits of time, then a 42-bit counter (12 before the variant, 30 after), then 32 random bits. Written digit by digit into
 * bytes that are used again: 0.1 µs, against 0.8 µs for putting the text together from padded parts, which whoever reads it
 * would have to join once more.
 */
function createUuid7(): (ms: number, counter: number, tail: number) => string {
  const text = Buffer.alloc(36, '-')

  function write(start: number, end: number, number: number): void {
    let rest = number
    for (let at = end - 1; at >= start; at -= 1) {
      text[at] = DIGITS[rest & 0xf]!
      rest >>>= 4
    }
  }

  return (ms, counter, tail) => {
    const low = counter % 2 ** 30
    write(0, 8, Math.floor(ms / 2 ** 16))
    write(9, 13, ms % 2 ** 16)
    write(14, 18, 0x7000 | Math.floor(counter / 2 ** 30))
    write(19, 23, 0x8000 | (low >>> 16))
    write(24, 28, low % 2 ** 16)
    write(28, 36, tail)
    return text.toString('latin1')
  }
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
