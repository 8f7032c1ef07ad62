// Which regular expressions a schema may hold: those that run away are refused when the schema is registered, where somebody
// reads the answer. They are found by trying, since the usual rules of thumb refuse as many good ones, such as
// ^[a-z]+(-[a-z]+)*$. What is still too slow for a payload is ended by the watchdog.
import { isDoneWithin } from './watchdog.ts'

/** A pattern that is longer describes a language, not a value. */
const PATTERN_LENGTH_MAX = 500
/** For all patterns of a schema together. */
const TRIAL_MS_MAX = 500
/** Enough for 2^n steps to be noticed, and for n^4 to pass. */
const REPETITIONS = 40
const BITES_MAX = 64

/** What is wrong with the first of them that is refused, or null. */
export function problemIn(patterns: readonly string[]): string | null {
  for (const pattern of patterns) {
    if (pattern.length > PATTERN_LENGTH_MAX)
      return `pattern ${quoted(pattern)} is longer than ${PATTERN_LENGTH_MAX} characters`
    if (expressionOf(pattern) === null) return `pattern ${quoted(pattern)} is not a regular expression`
  }
  let tried = ''
  const isDone = isDoneWithin(TRIAL_MS_MAX, () => {
    for (tried of patterns) tryOut(tried)
  })
  if (isDone) return null
  return `pattern ${quoted(tried)} takes for ever on some texts, as (a+)+ does; repeat what is repeated only once`
}

function tryOut(pattern: string): void {
  const expression = expressionOf(pattern)
  for (const bite of bitesOf(pattern)) expression?.test(`${bite.repeat(REPETITIONS)}\u0001`)
}

function quoted(pattern: string): string {
  return `"${pattern.slice(0, 100).toWellFormed()}"`
}

/** As Ajv reads it. */
function expressionOf(pattern: string): RegExp | null {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return null
  }
}

/** What a repetition of the pattern is likely to feed on: its own characters, alone and in pairs, and one of each common class. */
function bitesOf(pattern: string): string[] {
  const letters = [...new Set(pattern)].filter((letter) => !'\\^$.|?*+()[]{}'.includes(letter))
  const pairs = letters.slice(1).map((letter, index) => `${letters[index]}${letter}`)
  return [...new Set(['a', '0', ' ', 'A', '-', ...letters, ...pairs])].slice(0, BITES_MAX)
}
