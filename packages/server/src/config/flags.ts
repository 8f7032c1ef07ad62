// Settings from command-line flags: every key has one by rule, and `--database` is short for `--database-url`.
import { KEYS } from './keys.ts'
import { didYouMean } from './nearest.ts'
import { fromText, type Reading } from './setting.ts'

/** By name, without the dashes; `config` and `preset` say where to read from and are no keys. */
export type Flags = Readonly<Record<string, string | undefined>>

export const SOURCE_FLAGS = ['config', 'preset'] as const
const SHORT = new Map([['database', 'database-url']])
const byFlag = new Map(KEYS.map((key) => [key.flag, key]))

export function readFlags(flags: Flags): Reading {
  const settings = []
  const problems = []
  for (const [name, text] of Object.entries(flags)) {
    if (text === undefined || (SOURCE_FLAGS as readonly string[]).includes(name)) continue
    const key = byFlag.get(SHORT.get(name) ?? name)
    const where = `--${name}`
    if (key) settings.push({ key, value: fromText(key, text), origin: { source: 'flag' as const, where } })
    else problems.push({ where, message: `No key has this flag.${didYouMean(name, byFlag.keys())}` })
  }
  return { settings, problems }
}
