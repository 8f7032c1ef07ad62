// One value of one key with where it came from, and the reading of values that were written as text.
import type { Key } from './keys.ts'
import type { Problem } from './problem.ts'

export type Source = 'default' | 'preset' | 'file' | 'env' | 'flag'

export interface Origin {
  readonly source: Source
  /** As a person would look for it: `asyncgate.yaml:4`, `ASYNCGATE_PORT`, `--port`. */
  readonly where: string
}

export interface Setting {
  readonly key: Key
  readonly value: unknown
  readonly origin: Origin
}

/** What a source holds: settings, and what in it could not be understood. */
export interface Reading {
  readonly settings: readonly Setting[]
  readonly problems: readonly Problem[]
}

/** Variables and flags are text; the key's kind says what the text stands for. */
export function fromText(key: Key, text: string): unknown {
  const trimmed = text.trim()
  if (key.kind === 'list') return trimmed === '' ? [] : trimmed.split(',').map((item) => item.trim())
  if (trimmed === '' && key.schema.safeParse(null).success) return null
  if (key.kind === 'switch') return SWITCHES.get(trimmed.toLowerCase()) ?? trimmed
  if (key.kind === 'whole' || key.kind === 'number') return NUMBER.test(trimmed) ? Number(trimmed) : trimmed
  return trimmed
}

const NUMBER = /^-?\d+(\.\d+)?$/
const SWITCHES = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

/** The setting's value as the key's schema has it, or what is wrong with it. */
export function parseSetting({ key, value, origin }: Setting): { value: unknown } | { problem: Problem } {
  const parsed = key.schema.safeParse(value)
  if (parsed.success && value !== undefined) return { value: parsed.data }
  const written = key.secret ? 'its value' : JSON.stringify(value)
  const message = `${key.name} can't be ${written}. Give ${key.expects}.`
  return { problem: { where: origin.where, message } }
}
