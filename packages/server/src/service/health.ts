// How the server is doing: what `/health` answers while the process lives, with or without its database.
import { type Clock, iso } from '../clock.ts'
import type { Engine } from '../engine/engine.ts'
import type { Store } from '../store/port.ts'

interface HealthParts {
  readonly store: Store
  readonly stats: () => ReturnType<Store['stats']>
  readonly engine: Engine
  readonly clock: Clock
  readonly server: { readonly version: string; readonly instanceId: string; readonly startedAt: number }
}

export async function readHealth({
  store,
  stats: readStats,
  engine,
  clock,
  server,
}: HealthParts): Promise<object> {
  const about = {
    version: server.version,
    instance_id: server.instanceId,
    uptime: Math.round((clock.now() - server.startedAt) / 1_000),
    waiting_claims: engine.waitingClaims(),
  }
  try {
    const [stats, durability] = await Promise.all([readStats(), store.durability()])
    return {
      status: 'ok',
      database: { kind: store.kind, status: 'ok' },
      durability,
      workers: stats.workers,
      oldest_pending_task: stats.oldestReadyAt === null ? null : iso(stats.oldestReadyAt),
      tasks: stats.byStatus,
      open_obligations: stats.openObligations,
      ...about,
    }
  } catch {
    // Alive without its database is an answer, not an error; readiness says the same with a status.
    return { status: 'degraded', database: { kind: store.kind, status: 'unavailable' }, ...about }
  }
}
