// Named starting points, below every other source.
import { findKey } from './keys.ts'
import { didYouMean } from './nearest.ts'
import type { Reading } from './setting.ts'

/** `demo`: leases expire and retries end while people watch. */
export const PRESETS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  demo: {
    'lease.default_ttl_seconds': 120,
    'lease.sweep_interval_seconds': 5,
    'retry.max_attempts': 2,
    'retry.backoff_seconds': 15,
  },
}

export function readPreset(name: string | undefined): Reading {
  if (name === undefined) return { settings: [], problems: [] }
  const preset = Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined
  if (!preset) {
    const known = Object.keys(PRESETS)
    const message = `There is no preset "${name}".${didYouMean(name, known)} Presets: ${known.join(', ')}.`
    return { settings: [], problems: [{ where: '--preset', message }] }
  }
  const origin = { source: 'preset' as const, where: `--preset ${name}` }
  return {
    settings: Object.entries(preset).map(([key, value]) => ({ key: findKey(key)!, value, origin })),
    problems: [],
  }
}
