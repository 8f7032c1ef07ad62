// What JSON can say but no store can keep alike: NUL, lone surrogates, numbers beyond double precision, nesting
// without end, `__proto__`. Both protocols pass every input through here, so that none of it gets further.
import { GateError } from '@asyncgate/sdk'

/** Deep enough for any real document, and far from where recursive code (ours or a driver's) would overflow. */
export const NESTING_MAX = 100
/** A path names the place; nobody reads more of it. */
const PATH_LENGTH_MAX = 200

interface Place {
  readonly value: unknown
  readonly key: string | number | null
  readonly parent: Place | null
  readonly depth: number
}

/** Walks without recursion: the depth of the input must not be the depth of our stack. */
export function cleanJson(input: unknown): void {
  const open: Place[] = [{ value: input, key: null, parent: null, depth: 0 }]
  for (let place = open.pop(); place; place = open.pop()) {
    const { value } = place
    if (typeof value === 'string') refuseBadText(value, place)
    else if (typeof value === 'number') refuseBadNumber(value, place)
    else if (typeof value === 'object' && value !== null) openMembers(value, place, open)
  }
}

function openMembers(value: object, parent: Place, open: Place[]): void {
  const depth = parent.depth + 1
  if (depth > NESTING_MAX)
    throw refusal(parent, `it is nested more than ${NESTING_MAX} levels deep; flatten it`)
  if (Array.isArray(value)) {
    for (const [key, member] of value.entries()) open.push({ value: member, key, parent, depth })
    return
  }
  for (const [key, member] of Object.entries(value)) {
    if (key === '__proto__') throw refusal(parent, 'it has a key "__proto__"; rename it')
    refuseBadText(key, parent, 'a key of it')
    open.push({ value: member, key, parent, depth })
  }
}

function refuseBadText(text: string, place: Place, what = 'it'): void {
  if (text.includes('\0')) throw refusal(place, `${what} contains a NUL character; remove it`)
  if (!text.isWellFormed())
    throw refusal(place, `${what} contains half of a surrogate pair; send whole characters`)
}

function refuseBadNumber(number: number, place: Place): void {
  if (!Number.isFinite(number)) throw refusal(place, 'the number is too large; send it as a string')
}

function refusal(place: Place, reason: string): GateError {
  const field = pathOf(place)
  const where = field === '' ? 'The input' : `Field "${field}"`
  const message = `${where} is not valid: ${reason}.`
  return new GateError('invalid_input', message, { field, issues: [{ field, message }] })
}

function pathOf(place: Place): string {
  const keys: string[] = []
  for (let at: Place | null = place; at !== null && at.key !== null; at = at.parent) keys.push(String(at.key))
  const path = keys.reverse().join('.')
  return path.length <= PATH_LENGTH_MAX ? path : `${path.slice(0, PATH_LENGTH_MAX).toWellFormed()}…`
}
