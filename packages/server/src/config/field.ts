// The kinds of settings that there are, each with what the errors, the command line and the reference page say of it.
import { z } from 'zod'

export type Kind = 'whole' | 'number' | 'choice' | 'switch' | 'list' | 'text'

/** What the errors, `asyncgate config` and the reference page say of a key. */
export interface About {
  readonly about: string
  /** Completes the sentence "Give …". */
  readonly expects: string
  readonly kind: Kind
  readonly secret?: 'whole' | 'password'
}

const abouts = z.registry<About>()

export function aboutOf(schema: z.ZodType): About | undefined {
  return abouts.get(schema)
}

function described<S extends z.ZodType>(schema: S, about: About): S {
  abouts.add(schema, about)
  return schema
}

type Range = { default: number; min: number; max: number }

export function whole(about: string, { default: initial, min, max }: Range) {
  const expects = `a whole number from ${min} to ${max}`
  return described(z.int().min(min).max(max).default(initial), { about, expects, kind: 'whole' })
}

export function decimal(about: string, { default: initial, min, max }: Range) {
  const expects = `a number from ${min} to ${max}`
  return described(z.number().min(min).max(max).default(initial), { about, expects, kind: 'number' })
}

export function choice<const C extends readonly [string, ...string[]]>(
  about: string,
  choices: C,
  initial: C[number],
) {
  const expects = `one of ${choices.join(', ')}`
  // zod wants the default as its own output type; `initial` is one of the choices by its type.
  const schema = z.enum(choices).default(initial as never)
  return described(schema as z.ZodDefault<z.ZodType<C[number], C[number]>>, {
    about,
    expects,
    kind: 'choice',
  })
}

export function onOff(about: string, initial: boolean) {
  return described(z.boolean().default(initial), { about, expects: 'true or false', kind: 'switch' })
}

export function list(about: string, item: z.ZodType<string, string>, expects: string) {
  return described(z.array(item).default([]), { about, expects, kind: 'list' })
}

export function text<S extends z.ZodType>(schema: S, about: Omit<About, 'kind'>) {
  return described(schema, { ...about, kind: 'text' })
}
