// One configuration: defaults, a preset, a YAML file, the environment and flags, each overriding the one
// before. Only this file and those in config/ read process.env; everything else is given a Config.
import { readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { z } from 'zod'
import { type Camelised, camelCase } from './config/camel-case.ts'
import { contradictions } from './config/checks.ts'
import { type Environment, readEnvironment } from './config/environment.ts'
import { readYaml } from './config/file.ts'
import { type Flags, readFlags } from './config/flags.ts'
import { findKey, KEYS } from './config/keys.ts'
import { readPreset } from './config/preset.ts'
import { ConfigError, type Problem } from './config/problem.ts'
import type { ConfigSchema } from './config/schema.ts'
import { type Origin, parseSetting, type Reading, type Setting } from './config/setting.ts'

export { isGuessable, isLoopback, requireKey, requireServable, unsafeToServe } from './config/checks.ts'
export { clientSettings } from './config/client.ts'
export { describeConfig, hidePassword } from './config/describe.ts'
export { type Environment, unknownVariables } from './config/environment.ts'
export { parseYaml } from './config/file.ts'
export { ConfigError } from './config/problem.ts'

/** `lease.default_ttl_seconds` outside is `config.lease.defaultTtlSeconds` inside. */
export type Config = Camelised<z.output<typeof ConfigSchema>>

/** What a program may give instead of sources: any part of the settings, under their outside names. */
export type ConfigValues = Partial<{
  [K in keyof z.input<typeof ConfigSchema>]: z.input<typeof ConfigSchema>[K] extends object
    ? Partial<z.input<typeof ConfigSchema>[K]>
    : z.input<typeof ConfigSchema>[K]
}>

export interface Sources {
  readonly flags?: Flags
  readonly env?: Environment
  readonly cwd?: string
  /** Undefined where there is no such file. */
  readonly readFile?: (path: string) => string | undefined
}

export interface TracedConfig {
  readonly config: Config
  /** By key name: where the value in force came from. */
  readonly origins: ReadonlyMap<string, Origin>
}

/** For the entry of the command line, which hands it on. */
export function processEnvironment(): Environment {
  return process.env
}

export const DEFAULT_FILE = 'asyncgate.yaml'

export function loadConfig(sources: Sources = {}): Config {
  return traceConfig(sources).config
}

/** As loadConfig, with where each value came from. All that is wrong in any source is told at once. */
export function traceConfig(sources: Sources = {}): TracedConfig {
  const flags = sources.flags ?? {}
  return assemble([
    readPreset(flags.preset),
    readConfigFile(sources),
    readEnvironment(sources.env ?? processEnvironment()),
    readFlags(flags),
  ])
}

/** Defaults with these values over them; no file, no environment. */
export function configOf(values: ConfigValues = {}): Config {
  const origin: Origin = { source: 'flag', where: 'configOf' }
  const settings: Setting[] = []
  for (const [name, value] of flatten(values)) {
    const key = findKey(name)
    if (!key) throw new ConfigError([{ where: 'configOf', message: `There is no key ${name}.` }])
    settings.push({ key, value, origin })
  }
  return assemble([{ settings, problems: [] }]).config
}

function flatten(values: object): [string, unknown][] {
  return Object.entries(values).flatMap(([name, value]): [string, unknown][] =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.entries(value).map(([inner, member]) => [`${name}.${inner}`, member])
      : [[name, value]],
  )
}

function readConfigFile({ flags, cwd = process.cwd(), readFile = readFileIfAny }: Sources): Reading {
  const asked = flags?.config
  const path = resolve(cwd, asked ?? DEFAULT_FILE)
  const text = readFile(path)
  if (text !== undefined) return readYaml({ text, name: asked ?? basename(path) })
  if (asked === undefined) return { settings: [], problems: [] }
  const message = `There is no file ${path}. Check the path, or leave --config out to use the defaults.`
  return { settings: [], problems: [{ where: '--config', message }] }
}

function readFileIfAny(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new ConfigError([{ where: path, message: `Can't be read: ${String(error)}` }])
  }
}

function assemble(readings: readonly Reading[]): TracedConfig {
  const inForce = new Map<string, Setting>(KEYS.map((key) => [key.name, defaultOf(key)]))
  const problems: Problem[] = readings.flatMap((reading) => reading.problems)
  for (const setting of readings.flatMap((reading) => reading.settings)) {
    const parsed = parseSetting(setting)
    if ('problem' in parsed) problems.push(parsed.problem)
    else inForce.set(setting.key.name, { ...setting, value: parsed.value })
  }
  if (problems.length > 0) throw new ConfigError(problems)
  const config = nest([...inForce.values()])
  const origins = new Map([...inForce].map(([name, setting]) => [name, setting.origin]))
  const contradicting = contradictions(config, origins)
  if (contradicting.length > 0) throw new ConfigError(contradicting)
  return { config, origins }
}

function defaultOf(key: (typeof KEYS)[number]): Setting {
  return { key, value: key.initial, origin: { source: 'default', where: 'default' } }
}

function nest(settings: readonly Setting[]): Config {
  const root: Record<string, unknown> = {}
  for (const { key, value } of settings) {
    const path = key.name.split('.').map(camelCase)
    const leaf = path.pop()!
    const section = path.reduce((at, name) => (at[name] ??= {}) as Record<string, unknown>, root)
    section[leaf] = Array.isArray(value) ? Object.freeze([...value]) : value
  }
  for (const section of Object.values(root)) Object.freeze(section)
  // Every key of the schema was parsed by its own part of it, so the whole has the schema's type.
  return Object.freeze(root) as Config
}
