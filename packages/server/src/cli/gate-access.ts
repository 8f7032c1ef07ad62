// The one place where commands reach into the server. It is loaded late: `asyncgate task list` needs no
// database driver and no HTTP server, and should not wait for them.
import { systemClock } from '../clock.ts'
import type { Config } from '../config.ts'
import type { GateParts } from '../gate.ts'
import type { Log } from '../log.ts'
import type { MetricsReading } from '../metrics.ts'
import type { SchedulerParts } from '../scheduler/scheduler.ts'
import type { Store } from '../store/port.ts'
import type { ReferenceParts } from '../worker/reference-worker.ts'

export async function openLog(config: Pick<Config, 'log' | 'instanceId'>): Promise<Log> {
  const { createLog } = await import('../log.ts')
  return createLog(config)
}

export async function startServer(config: Config, parts: Pick<GateParts, 'log' | 'figuresOfAll'>) {
  const { startGate } = await import('../gate.ts')
  return startGate(config, parts)
}

/** `sleepClock`: the system's. */
export async function referenceWorker(parts: Omit<ReferenceParts, 'sleepClock'>) {
  const { createReferenceWorker } = await import('../worker/reference-worker.ts')
  return createReferenceWorker({ ...parts, sleepClock: systemClock })
}

/** `wallClock`: the system's. */
export async function scheduler(parts: Omit<SchedulerParts, 'wallClock'>) {
  const { createScheduler } = await import('../scheduler/scheduler.ts')
  return createScheduler({ ...parts, wallClock: systemClock })
}

export async function openChannelsOf(config: Config) {
  const { openChannels } = await import('../channel/open.ts')
  return openChannels(config)
}

export async function joinFigures(readings: MetricsReading[]): Promise<string> {
  const { joinReadings } = await import('../metrics.ts')
  return joinReadings(readings)
}

export async function openStoreOf(config: Pick<Config, 'database'>) {
  const { openStore } = await import('../gate.ts')
  return openStore(config)
}

export async function bringUpToDate(store: Store): Promise<readonly string[]> {
  const { migrateStore } = await import('../gate.ts')
  return migrateStore(store)
}
