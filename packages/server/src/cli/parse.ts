// Arguments to values, by the command's own table. Every mistake is a UsageError that says what would be right.
import { parseArgs } from 'node:util'
import { KEYS } from '../config/keys.ts'
import { didYouMean } from '../config/nearest.ts'
import type { Command, Option, Options } from './command.ts'
import { UsageError } from './failure.ts'

export interface ParsedArguments {
  readonly values: Readonly<Record<string, unknown>>
  readonly input: Readonly<Record<string, unknown>>
  readonly settings: Readonly<Record<string, string>>
  readonly positionals: readonly string[]
  readonly help: boolean
}

const HELP: Options = { help: { kind: 'switch', about: 'Show this.', short: 'h' } }

/** Every configuration key as an option; text, since the configuration itself judges the values. */
const SETTINGS: Options = Object.fromEntries(
  KEYS.map((key) => [key.flag, { kind: 'text', about: key.about }] satisfies [string, Option]),
)
const SETTING_SHORTS = new Set(['config', 'preset', 'database'])

export function parseArguments(command: Command, args: readonly string[]): ParsedArguments {
  const settings = command.configured ? SETTINGS : {}
  const fields = command.fields?.() ?? {}
  const known: Options = { ...settings, ...fields, ...command.options, ...HELP }
  const { values, positionals } = readTokens(known, args)
  if (values.help === true) return { values, input: {}, settings: {}, positionals, help: true }
  requireAll(command, { ...fields, ...command.options }, { values, positionals })
  return {
    values,
    input: pick(values, (name) => name in fields, wireName),
    settings: command.configured
      ? (pick(values, (name) => name in SETTINGS || SETTING_SHORTS.has(name)) as Record<string, string>)
      : {},
    positionals,
    help: false,
  }
}

function readTokens(known: Options, args: readonly string[]) {
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(Object.entries(known).map(([name, option]) => [name, parserOption(option)])),
    strict: false, // its own errors can't name the nearest option
    tokens: true,
    allowPositionals: true,
  })
  const values: Record<string, unknown> = {}
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const option = Object.hasOwn(known, token.name) ? known[token.name] : undefined
    if (!option) throw new UsageError(`There is no option ${token.rawName}.${hintFor(token.name, known)}`)
    const value = readValue(token, option)
    values[token.name] =
      option.kind === 'list' ? [...((values[token.name] as string[]) ?? []), ...(value as string[])] : value
  }
  return { values, positionals }
}

function parserOption({ kind, short }: Option) {
  const type = kind === 'switch' ? ('boolean' as const) : ('string' as const)
  return short === undefined ? { type } : { type, short }
}

function hintFor(name: string, known: Options): string {
  return didYouMean(
    `--${name}`,
    Object.keys(known).map((each) => `--${each}`),
  )
}

interface OptionToken {
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

function readValue({ rawName, value, inlineValue }: OptionToken, option: Option): unknown {
  if (option.kind === 'switch') {
    if (value === undefined) return true
    throw new UsageError(`${rawName} takes no value.`)
  }
  // `--type --json` is a forgotten value, `--priority -5` is not.
  if (value === undefined || (!inlineValue && value.startsWith('--'))) {
    throw new UsageError(`${rawName} needs a value: ${rawName} ${placeholder(option)}`)
  }
  return convert(rawName, value, option)
}

function convert(rawName: string, value: string, { kind, choices }: Option): unknown {
  if (choices && !choices.includes(value)) {
    throw new UsageError(
      `${rawName} can't be "${value}".${didYouMean(value, choices)} Give one of ${choices.join(', ')}.`,
    )
  }
  if (kind === 'list') return value.split(',').map((item) => item.trim())
  if (kind === 'whole') {
    if (/^-?\d+$/.test(value)) return Number(value)
    throw new UsageError(`${rawName} can't be "${value}". Give a whole number.`)
  }
  return kind === 'json' ? parseJson(rawName, value) : value
}

export function parseJson(where: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(`${where} is not JSON: ${reason}. In a shell, put it in single quotes: '{"a":1}'`)
  }
}

interface Given {
  readonly values: Readonly<Record<string, unknown>>
  readonly positionals: readonly string[]
}

function requireAll(command: Command, options: Options, { values, positionals }: Given): void {
  const wanted = command.positionals ?? []
  const missing = wanted[positionals.length]
  if (missing) throw new UsageError(`<${missing.name}> is missing: ${missing.about}`)
  const surplus = positionals[wanted.length]
  if (surplus !== undefined) throw new UsageError(`"${surplus}" is one argument too many.`)
  for (const [name, option] of Object.entries(options)) {
    if (option.required && values[name] === undefined) {
      throw new UsageError(`--${name} is missing: --${name} ${placeholder(option)}`)
    }
  }
}

function pick(
  values: Readonly<Record<string, unknown>>,
  wanted: (name: string) => boolean,
  rename = (name: string) => name,
): Record<string, unknown> {
  const entries = Object.entries(values).filter(([name]) => wanted(name))
  return Object.fromEntries(entries.map(([name, value]) => [rename(name), value]))
}

/** `max-attempts` → `max_attempts` */
function wireName(flag: string): string {
  return flag.replaceAll('-', '_')
}

export function placeholder({ kind, shows, choices }: Option): string {
  if (kind === 'switch') return ''
  if (shows) return shows
  if (choices) return `<${choices.join('|')}>`
  return { text: '<text>', whole: '<number>', list: '<a,b>', json: "'<json>'" }[kind]
}
