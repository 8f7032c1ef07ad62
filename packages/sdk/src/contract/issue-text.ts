// What is wrong with a value, in words that say what would be right.
import type { z } from 'zod'

type Issue = z.core.$ZodIssue

/** Completes the sentence `Field "x" …`. */
export function issueText(issue: Issue): string {
  if (isMissing(issue)) return 'is required'
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be ${oneOf(issue.values)}`
    case 'invalid_format':
      return `must be ${FORMATS[issue.format] ?? `well formed: ${issue.message}`}`
    case 'too_small':
      return bound(issue.origin, { limit: Number(issue.minimum), word: 'at least' })
    case 'too_big':
      return bound(issue.origin, { limit: Number(issue.maximum), word: 'at most' })
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options)
        ? `must be ${oneOf(issue.options)}`
        : 'is none of the forms that are taken'
    default:
      return `is not valid: ${issue.message}`
  }
}

/** A field that was left out is reported as a wrong type or a wrong value, whichever its schema looks for. */
function isMissing(issue: Issue): boolean {
  return issue.input === undefined && ['invalid_type', 'invalid_value', 'invalid_union'].includes(issue.code)
}

const TYPES: Readonly<Record<string, string>> = {
  record: 'a JSON object',
  object: 'a JSON object',
  array: 'an array',
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'an id such as 01890a5d-ac96-774b-bcce-b302099a8057',
  datetime: 'a time such as 2026-01-31T09:00:00Z',
}

function oneOf(values: readonly unknown[]): string {
  const shown = values.map((value) => JSON.stringify(value))
  return shown.length === 1 ? shown[0]! : `one of ${shown.join(', ')}`
}

function bound(origin: string, { limit, word }: { limit: number; word: 'at least' | 'at most' }): string {
  if (origin === 'string' && word === 'at least' && limit === 1) return 'must not be empty'
  if (origin === 'string') return `must have ${word} ${limit} characters`
  if (origin === 'array') return `must have ${word} ${limit} ${limit === 1 ? 'entry' : 'entries'}`
  return `must be ${word} ${limit}`
}
