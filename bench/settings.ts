// The command line of the bench.
import { parseArgs } from 'node:util'
import type { PeerName } from './contenders/openers.ts'
import { isScenarioName, type ScenarioName, scenarioNames } from './scenarios/index.ts'

export const STORES = ['sqlite', 'postgres', 'memory'] as const
export type StoreName = (typeof STORES)[number]
export const PEERS: readonly PeerName[] = ['pg-boss', 'graphile', 'bullmq', 'plainjob', 'sdk', 'no-ledger']

export interface Settings {
  readonly scenario: ScenarioName
  readonly store: StoreName
  /** Absent: those that keep their jobs in the same kind of store. */
  readonly peers: readonly PeerName[] | undefined
  readonly repeat: number
  /** Absent: the scenario's own. */
  readonly count: number | undefined
  readonly instances: number
  /** Server processes behind one port, on PostgreSQL. */
  readonly processes: number
  /** Write CPU profiles of our server and say where its time goes. */
  readonly profile: boolean
}

export class Usage extends Error {}

export function readSettings(args: readonly string[]): Settings {
  const { values, positionals } = parse(args)
  const [scenario, ...rest] = positionals
  if (scenario === undefined || rest.length > 0 || values.help) throw new Usage(usage())
  if (!isScenarioName(scenario)) throw new Usage(`There is no scenario "${scenario}".\n\n${usage()}`)
  return {
    scenario,
    store: oneOf('store', values.store, STORES),
    peers: values.peers === undefined ? undefined : peersOf(values.peers),
    repeat: whole('repeat', values.repeat) ?? 3,
    count: whole('count', values.count),
    instances: whole('instances', values.instances) ?? 1,
    processes: whole('processes', values.processes) ?? 1,
    profile: values.profile,
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        store: { type: 'string', default: 'postgres' },
        peers: { type: 'string' },
        repeat: { type: 'string' },
        count: { type: 'string' },
        instances: { type: 'string' },
        processes: { type: 'string' },
        profile: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw new Usage(`${error instanceof Error ? error.message : String(error)}\n\n${usage()}`, {
      cause: error,
    })
  }
}

function peersOf(text: string): PeerName[] {
  return text
    .split(',')
    .filter((name) => name !== '' && name !== 'none')
    .map((name) => oneOf('peers', name, PEERS))
}

function oneOf<T extends string>(option: string, value: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value)
  if (found === undefined) throw new Usage(`--${option} is one of ${choices.join(', ')}, not "${value}".`)
  return found
}

function whole(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text.replaceAll('_', ''))
  if (!Number.isInteger(value) || value < 1)
    throw new Usage(`--${option} is a whole number from 1, not "${text}".`)
  return value
}

function usage(): string {
  return [
    'npm run bench -- <scenario> [--store sqlite|postgres|memory] [--peers pg-boss,graphile,bullmq,plainjob,sdk,no-ledger|none]',
    '                            [--repeat 3] [--count N] [--instances N] [--processes N] [--profile]',
    '',
    'Scenarios:',
    ...scenarioNames().map(([name, about]) => `  ${name.padEnd(18)} ${about}`),
  ].join('\n')
}
