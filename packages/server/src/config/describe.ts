// A configuration for people to read: every key, its value, and where it came from. Secrets stay hidden.
import type { Config, TracedConfig } from '../config.ts'
import { camelCase } from './camel-case.ts'
import { type Key, KEYS } from './keys.ts'
import type { Origin } from './setting.ts'

export interface DescribedKey {
  readonly key: string
  readonly value: unknown
  readonly source: Origin['source']
  readonly where: string
  readonly about: string
}

export const HIDDEN = '********'

export function describeConfig({ config, origins }: TracedConfig): DescribedKey[] {
  return KEYS.map((key) => {
    const { source, where } = origins.get(key.name)!
    return {
      key: key.name,
      value: hideSecret(key, valueOf(config, key.name)),
      source,
      where,
      about: key.about,
    }
  })
}

/** The value of `lease.max_renewals`, by its outside name. */
export function valueOf(config: Config, name: string): unknown {
  let at: unknown = config
  for (const part of name.split('.')) at = (at as Record<string, unknown>)[camelCase(part)]
  return at
}

function hideSecret(key: Key, value: unknown): unknown {
  if (typeof value !== 'string' || !key.secret) return value
  return key.secret === 'whole' ? HIDDEN : hidePassword(value)
}

/** `postgres://me:secret@host/db?password=secret` without what is secret in it. */
export function hidePassword(url: string): string {
  return url
    .replace(/^(\w+:\/\/[^:@]*):.*@/, `$1:${HIDDEN}@`) // to the last @: a password may hold any sign
    .replace(/([?&](?:password|sslpassword|sslkey)=)[^&#]*/gi, `$1${HIDDEN}`)
}
