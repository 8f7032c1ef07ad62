// What happens in a worker, as data: from these come its log lines, and whatever metrics its owner keeps.
import type { LeasedTask } from './execution.ts'

export type WorkerEvent =
  | { readonly kind: 'ready'; readonly types: readonly string[]; readonly renewsFrom: 'thread' | 'timer' }
  | { readonly kind: 'claimed'; readonly count: number }
  | { readonly kind: 'started'; readonly task: LeasedTask }
  | {
      readonly kind: 'ended'
      readonly task: LeasedTask
      readonly outcome: TaskEnd
      /** From the grant to the end of the handler. */
      readonly durationMs: number
      readonly error?: unknown
    }
  | {
      readonly kind: 'uploading'
      readonly task: LeasedTask
      readonly bytes: number
      /** Null for a stream: nobody knows. */
      readonly totalBytes: number | null
    }
  | { readonly kind: 'renewed'; readonly count: number }
  | { readonly kind: 'trouble'; readonly message: string; readonly retryMs?: number }
  | { readonly kind: 'stopping'; readonly running: number }
  | { readonly kind: 'stopped' }

/**
 * As the server recorded it: `retrying` is a failed attempt with more to come, `failed` the last one. Of the others it
 * recorded nothing of this execution: `canceled` is somebody's wish, `lost` an accident, the lease was over.
 */
export type TaskEnd = 'completed' | 'retrying' | 'failed' | 'released' | 'canceled' | 'lost'

/** pino's shape, which most structured loggers share. */
export interface WorkerLog {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

const LEVEL_OF_END = {
  completed: 'info',
  retrying: 'warn',
  failed: 'error',
  released: 'info',
  canceled: 'info',
  lost: 'warn',
} as const satisfies Record<TaskEnd, keyof WorkerLog>

export function logEvent(log: WorkerLog, event: WorkerEvent): void {
  switch (event.kind) {
    case 'ready':
      return log.info({ types: event.types, renews_from: event.renewsFrom }, 'worker ready')
    case 'claimed':
    case 'renewed':
      return log.debug({ count: event.count }, `leases ${event.kind}`)
    case 'started':
      return log.info(factsOf(event.task), 'task started')
    case 'uploading': {
      const { task, bytes, totalBytes } = event
      return log.debug({ ...factsOf(task), bytes, total_bytes: totalBytes }, 'result uploading')
    }
    case 'ended': {
      const { task, outcome, durationMs, error } = event
      const fields = { ...factsOf(task), duration_ms: Math.round(durationMs) }
      return log[LEVEL_OF_END[outcome]](
        error === undefined ? fields : { ...fields, error },
        `task ${outcome}`,
      )
    }
    case 'trouble':
      return log.warn(event.retryMs === undefined ? {} : { retry_ms: event.retryMs }, event.message)
    case 'stopping':
      return log.info({ running: event.running }, 'worker stopping')
    case 'stopped':
      return log.info({}, 'worker stopped')
  }
}

export function factsOf({ task_id, lease_id, type, attempt }: LeasedTask): object {
  return { type, task_id, lease_id, attempt }
}
