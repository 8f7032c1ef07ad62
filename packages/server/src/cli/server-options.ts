// What the commands that run on the configuration share: the common flags, and loading it.
import { traceConfig, type TracedConfig } from '../config.ts'
import type { Options } from './command.ts'
import type { Terminal } from './terminal.ts'

export const DATABASE_OPTIONS = {
  config: {
    kind: 'text',
    shows: '<file>',
    about: 'YAML file; default asyncgate.yaml, if there is one here.',
  },
  preset: {
    kind: 'text',
    shows: '<name>',
    about: 'Start from a preset instead of the plain defaults: demo.',
  },
  database: {
    kind: 'text',
    shows: '<url>',
    about: 'sqlite:<path>, postgres://user:password@host/name or memory: (gone when the server stops).',
  },
} as const satisfies Options

export const LISTEN_OPTIONS = {
  host: { kind: 'text', shows: '<address>', about: 'Address to listen on; default 127.0.0.1.' },
  port: { kind: 'text', shows: '<number>', about: 'Port to listen on; default 8420, 0 for any free one.' },
} as const satisfies Options

export interface ConfiguredCall {
  readonly settings: Readonly<Record<string, string | undefined>>
  readonly terminal: Terminal
}

export function readConfig(
  { settings, terminal }: ConfiguredCall,
  forced: Record<string, string> = {},
): TracedConfig {
  return traceConfig({ flags: { ...settings, ...forced }, env: terminal.env, cwd: terminal.cwd })
}
