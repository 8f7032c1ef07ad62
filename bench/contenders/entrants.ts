// Who enters a comparison: AsyncGate first, then the peers that were asked for and are there.
import { dirname, join } from 'node:path'
import { readFileSync } from 'node:fs'
import { hasRedis } from '../lab/redis.ts'
import type { Bench } from '../scenario.ts'
import type { ContenderName, PeerName } from './openers.ts'
import { fileStage, gateStage, postgresStage, redisStage, type SetStage } from './stages.ts'

export interface Entrant {
  readonly name: ContenderName
  readonly label: string
  readonly setStage: SetStage
}

export interface EntrantOptions {
  /** pg-boss trades throughput for latency with its `notify`: where latency is measured, both enter. */
  readonly latency?: boolean
}

export async function chooseEntrants(
  bench: Bench,
  options: EntrantOptions = {},
): Promise<readonly Entrant[]> {
  const { store, peers = defaultPeers(bench), instances, processes } = bench.settings
  const form = [
    STORE_LABELS[store],
    ...(instances > 1 ? [`${instances} instances`] : []),
    ...(processes > 1 ? [`${processes} processes`] : []),
  ]
  const entrants: Entrant[] = [
    {
      name: 'asyncgate',
      label: `AsyncGate, ${form.join(', ')}`,
      setStage: gateStage(bench, store, { instances, processes }),
    },
  ]
  for (const peer of peers) {
    const missing = await reasonMissing(peer)
    if (missing === undefined) entrants.push(...FORMS[peer](bench, options))
    else bench.note(`${peer} does not take part: ${missing}`)
  }
  return entrants
}

/** For what PostgreSQL alone can tell. */
export async function chooseOnPostgres(bench: Bench): Promise<readonly Entrant[]> {
  const isThere = ({ name }: Entrant) => name !== 'asyncgate' || bench.settings.store === 'postgres'
  return (await chooseEntrants(bench)).filter(isThere)
}

const STORE_LABELS = { sqlite: 'SQLite FULL', postgres: 'PostgreSQL', memory: 'memory (nothing durable)' }

function defaultPeers({ settings: { store } }: Bench): readonly PeerName[] {
  return store === 'sqlite' ? ['plainjob'] : store === 'postgres' ? ['pg-boss', 'graphile', 'bullmq'] : []
}

/** The package whose presence decides, and whose version is shown. */
const PACKAGES: Readonly<Record<PeerName, string>> = {
  sdk: '@asyncgate/sdk',
  'no-ledger': 'pg',
  'pg-boss': 'pg-boss',
  graphile: 'graphile-worker',
  bullmq: 'bullmq',
  plainjob: 'plainjob',
}

const FORMS: Readonly<Record<PeerName, (bench: Bench, options: EntrantOptions) => readonly Entrant[]>> = {
  sdk: (bench) => {
    const { store, instances, processes } = bench.settings
    const setStage = gateStage(bench, store, { instances, processes })
    return [{ name: 'sdk', label: 'AsyncGate through its SDK', setStage }]
  },
  'no-ledger': (bench) => [
    {
      name: 'asyncgate',
      label: 'AsyncGate that writes no receipts',
      setStage: gateStage(bench, bench.settings.store, { withoutLedger: true }),
    },
  ],
  'pg-boss': (bench, { latency }) => [
    { name: 'pg-boss', label: labelOf('pg-boss'), setStage: postgresStage(bench) },
    ...(latency
      ? [{ ...notifying(labelOf('pg-boss')), setStage: postgresStage(bench, { notify: 'yes' }) }]
      : []),
  ],
  graphile: (bench) => [{ name: 'graphile', label: labelOf('graphile'), setStage: postgresStage(bench) }],
  bullmq: (bench) => {
    const label = labelOf('bullmq')
    const onPostgres = {
      name: 'bullmq' as const,
      label: `${label}, PostgreSQL`,
      setStage: postgresStage(bench),
    }
    if (!hasRedis()) {
      bench.note('BullMQ on Redis does not take part: there is no redis-server on this machine.')
      return [onPostgres]
    }
    const onRedis = (['always', 'everysec'] as const).map((fsync) => ({
      name: 'bullmq' as const,
      label: `${label}, Redis AOF ${fsync}`,
      setStage: redisStage(bench, fsync),
    }))
    return [onPostgres, ...onRedis]
  },
  plainjob: (bench) =>
    ['FULL', 'NORMAL'].map((synchronous) => ({
      name: 'plainjob' as const,
      label: `${labelOf('plainjob')}, SQLite ${synchronous}`,
      setStage: fileStage(bench, { synchronous }),
    })),
}

function notifying(label: string): { name: 'pg-boss'; label: string } {
  return { name: 'pg-boss', label: `${label}, notify` }
}

function labelOf(peer: PeerName): string {
  const folder = join(dirname(import.meta.dirname), 'node_modules', PACKAGES[peer])
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
  return `${peer === 'graphile' ? 'Graphile Worker' : peer === 'bullmq' ? 'BullMQ' : peer} ${version}`
}

async function reasonMissing(peer: PeerName): Promise<string | undefined> {
  try {
    await import(PACKAGES[peer])
    // Its driver is native: it may be installed and still not run here.
    if (peer === 'plainjob') new (await import('better-sqlite3')).default(':memory:').close()
    return undefined
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
  }
}
