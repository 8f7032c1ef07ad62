// Under what a process remembers API keys: three sums over the characters of a key, two at a time, each pair times a secret number
// of the process's own, modulo a prime. In a server that does other things as well that takes a quarter of what SHA-256 does.
//
// No other text has the mark of a key. For two different texts a sum agrees only if Σ factorᵢ·differenceᵢ ≡ 0. Some difference is
// not 0, and smaller than the prime: so, whatever the other factors, one value in 2^31 of its own factor makes it so. That all
// three sums agree has a chance of 2^-93 for two texts that were chosen without knowing the factors, which never leave the
// process. It is 2^-79 for a guess where 10,000 keys are remembered, and wrong guesses are counted.
//
// Nor is a mark of use to who reads the memory, with the factors in it: of the 214 bits of a secret it tells less than 96, and
// the texts that fit it, more than 2^118, would have to be tried with Argon2.
import type { Random } from '../ids.ts'
import { KEY_LENGTH } from './key-text.ts'

/** With this, a pair of characters (2^14) and their number (under 2^5) a sum stays below 2^50, where numbers are exact. */
const PRIME = 2 ** 31 - 1
const CHARACTERS = 128

/** Null for what has another length or other characters than any key. */
export function createKeyMarks(random: Random): (text: string) => string | null {
  const factors = () => Float64Array.from({ length: KEY_LENGTH / 2 }, () => random.below(PRIME))
  const [first, second, third] = [factors(), factors(), factors()]
  return (text) => {
    if (text.length !== KEY_LENGTH) return null
    let one = 0
    let two = 0
    let three = 0
    let bits = 0
    for (let at = 0; at < KEY_LENGTH / 2; at += 1) {
      const left = text.charCodeAt(2 * at)
      const right = text.charCodeAt(2 * at + 1)
      const pair = left * CHARACTERS + right
      bits |= left | right
      one += first[at]! * pair
      two += second[at]! * pair
      three += third[at]! * pair
    }
    return bits < CHARACTERS ? write(reduce(one), reduce(two), reduce(three)) : null
  }
}

/** A remainder, if not always the least: 2^31 is 1 more than the prime. By `%` it takes longer. */
function reduce(sum: number): number {
  return sum - Math.floor(sum / 2 ** 31) * PRIME
}

function write(one: number, two: number, three: number): string {
  return String.fromCharCode(one >>> 16, one & 0xffff, two >>> 16, two & 0xffff, three >>> 16, three & 0xffff)
}
