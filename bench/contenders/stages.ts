// Fresh ground for each measurement: an empty database, and for AsyncGate a server on it.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { startGateServer } from '../lab/gate-server.ts'
import type { Database } from '../lab/postgres.ts'
import { keepStatements } from '../lab/statements.ts'
import { startRedis } from '../lab/redis.ts'
import type { Target } from '../players/queue.ts'
import type { Bench } from '../scenario.ts'
import type { StoreName } from '../settings.ts'

export interface Stage {
  /** One for each instance that was asked for; peers have one. */
  readonly targets: readonly [Target, ...Target[]]
  /** Where it runs on PostgreSQL, to look into. */
  readonly database?: Database
  /** AsyncGate's own process. */
  readonly serverPid?: number
  /** The process of the database, where it has one. */
  readonly databasePid?: number
  close(): Promise<void>
}

export type SetStage = () => Promise<Stage>

export interface GateForm {
  readonly instances?: number
  readonly processes?: number
  readonly withoutLedger?: boolean
}

export function gateStage(
  bench: Bench,
  store: StoreName,
  { instances = 1, processes = 1, withoutLedger = false }: GateForm = {},
): SetStage {
  return async () => {
    const ground = store === 'postgres' ? await bench.postgres() : undefined
    const database = await ground?.createDatabase()
    const url = database?.url ?? (store === 'memory' ? 'memory:' : `sqlite:${freshFile(bench)}`)
    // One after the other: the first one makes the schema.
    const first = await startGateServer(bench.lab, {
      database: url,
      profileFolder: withoutLedger ? undefined : bench.profileFolder,
      withoutLedger,
      env: { ASYNCGATE_PROCESSES: String(processes) },
    })
    const others = []
    while (others.length < instances - 1) others.push(await startGateServer(bench.lab, { database: url }))
    const servers = [first, ...others]
    const targetOf = (server: typeof first): Target => ({ url: server.url, options: { key: server.key } })
    return {
      targets: [targetOf(first), ...others.map(targetOf)],
      ...(ground && database ? { database, databasePid: ground.pid } : {}),
      serverPid: first.pid,
      close: async () => {
        for (const server of servers) await server.stop()
        if (database && bench.profileFolder) await keepStatements(database, bench.profileFolder)
        await database?.drop()
      },
    }
  }
}

export function postgresStage(bench: Bench, options: Target['options'] = {}): SetStage {
  return async () => {
    const ground = await bench.postgres()
    const database = await ground.createDatabase()
    return {
      targets: [{ url: database.url, options }],
      database,
      databasePid: ground.pid,
      close: () => database.drop(),
    }
  }
}

export function fileStage(bench: Bench, options: Target['options'] = {}): SetStage {
  return async () => ({ targets: [{ url: freshFile(bench), options }], close: async () => {} })
}

export function redisStage(bench: Bench, appendfsync: 'always' | 'everysec'): SetStage {
  return async () => {
    const redis = await startRedis(bench.lab, appendfsync)
    const targets = [{ url: redis.url, options: { on: 'redis' } }] as const
    return { targets, databasePid: redis.pid, close: () => redis.stop() }
  }
}

function freshFile(bench: Bench): string {
  return join(bench.lab.folder, `${randomBytes(6).toString('hex')}.db`)
}
