// The schema as a flat list of keys, each with its names in every source, by rule:
// `lease.sweep_interval_seconds` is ASYNCGATE_LEASE_SWEEP_INTERVAL_SECONDS and --lease-sweep-interval-seconds.
import { z } from 'zod'
import { type About, aboutOf } from './field.ts'
import { ConfigSchema } from './schema.ts'

export interface Key extends About {
  /** `lease.sweep_interval_seconds` */
  readonly name: string
  readonly variable: string
  /** Without the dashes. */
  readonly flag: string
  readonly schema: z.ZodType
  readonly initial: unknown
}

export const VARIABLE_PREFIX = 'ASYNCGATE_'

export const KEYS: readonly Key[] = keysOf(ConfigSchema, [])
const byName = new Map(KEYS.map((key) => [key.name, key]))

export function findKey(name: string): Key | undefined {
  return byName.get(name)
}

/** True for `lease`: a name that only groups keys. */
export function isSection(name: string): boolean {
  return KEYS.some((key) => key.name.startsWith(`${name}.`))
}

function keysOf(schema: z.ZodObject, path: readonly string[]): Key[] {
  return Object.entries(schema.shape).flatMap(([name, member]) => {
    const here = [...path, name]
    return member instanceof z.ZodObject ? keysOf(member, here) : [keyOf(member as z.ZodType, here)]
  })
}

function keyOf(schema: z.ZodType, path: readonly string[]): Key {
  const about = aboutOf(schema)
  if (!about) throw new Error(`The key ${path.join('.')} has no description.`)
  return {
    ...about,
    name: path.join('.'),
    variable: VARIABLE_PREFIX + path.join('_').toUpperCase(),
    flag: path.join('-').replaceAll('_', '-'),
    schema,
    initial: schema.parse(undefined),
  }
}
