// The members of a plain object as they stand in a line of JSON, each after a comma.
import { blankSecrets } from './blank-secrets.ts'

/** `null` for anything that needs a closer look: nested objects, errors, what is no plain object at all. */
export function flatMembers(fields: unknown): string | null {
  if (typeof fields !== 'object' || fields === null) return null
  if (Object.getPrototypeOf(fields) !== Object.prototype) return null
  const members = fields as Record<string, unknown> // a plain object, as its prototype shows
  for (const name of Object.keys(members)) {
    const type = typeof members[name]
    if (type !== 'string' && type !== 'number' && type !== 'boolean' && type !== 'undefined') return null
  }
  const text = JSON.stringify(blankSecrets(members)).slice(1, -1)
  return text === '' ? '' : `,${text}`
}
