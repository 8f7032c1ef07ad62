// One task in the hands of its handler: what the handler is given, and how its lease can end under it.
import type { z } from 'zod'
import type { Client } from '../client.ts'
import type { Content, UploadProgress } from '../client/content.ts'
import type { LeasedTask as LeasedTaskSchema } from '../contract/lease.ts'
import type { StoredResult as StoredResultSchema } from '../contract/fields.ts'
import { GateError } from '../errors.ts'
import { type LeaseEndedError, leaseEnded } from './errors.ts'
import { factsOf, type WorkerLog } from './events.ts'
import { createInlineRoom, type Sizes } from './inline-room.ts'
import { logWith } from './log.ts'

export type LeasedTask = z.output<typeof LeasedTaskSchema>

export interface Progress {
  readonly percent?: number
  readonly message?: string
  readonly [fact: string]: unknown
}

export interface TaskContext {
  /** The task as it was claimed: ids, attempt, fence, metadata and the rest. */
  readonly task: LeasedTask
  /** Fires when the task is canceled, its lease lost, or the worker's grace over; the reason is a `LeaseEndedError`. */
  readonly signal: AbortSignal
  /** Writes with the ids of the task and the lease. */
  readonly log: WorkerLog
  /** Shown to the owner and kept as history. Throws when the lease has ended; a server that is away is passed over. */
  progress(progress: Progress): Promise<void>
  /**
   * Puts something large where it is kept: name what it returns among the `artifacts` of `completed`. Until then it is nobody's,
   * and is removed if the task is not completed under this lease.
   */
  upload(content: Content, options?: UploadChoice): Promise<StoredResult>
  /** Renews the lease now, and so asks whether it is still held; throws when it is not. Renewals happen without it. */
  heartbeat(): Promise<void>
}

export type StoredResult = z.output<typeof StoredResultSchema>

export interface UploadChoice {
  readonly contentType?: string
  /** Default what the task asks for, else by its size. */
  readonly channel?: 'inline' | 'blob' | 'file' | 's3' | 'http'
  /** For the channel `http`: the public URL to PUT it to. */
  readonly targetUrl?: string
  readonly onProgress?: (progress: UploadProgress) => void
}

/** A return value is the task's result: any JSON, or what `completed` made. Where a large one is kept is not its business. */
export type Handler<P> = (payload: P, context: TaskContext) => unknown

export interface Execution {
  readonly task: LeasedTask
  readonly startedAt: number
  readonly context: TaskContext
  /** Whether the server has been told, or is being told, of its end. */
  isReported: boolean
  /** Ends the handler's authority. */
  end(reason: LeaseEndedError): void
}

/** Who a worker is, to the server. */
export interface WorkerName {
  readonly worker_id: string
  readonly worker_kind?: 'worker' | 'service'
}

export interface ExecutionParts {
  readonly client: Pick<Client, 'renewLease' | 'reportProgress' | 'uploadTaskResult'>
  readonly worker: WorkerName
  readonly log: WorkerLog
  readonly sizes: Sizes
  readonly now: number
  /** Hears how uploads go. */
  onUpload?(task: LeasedTask, progress: UploadProgress): void
}

export function createExecution(task: LeasedTask, parts: ExecutionParts): Execution {
  const { client } = parts
  const controller = new AbortController()
  const { signal } = controller
  const held = { ...parts.worker, task_id: task.task_id, lease_id: task.lease_id }
  const log = logWith(parts.log, factsOf(task))
  const bySize = createInlineRoom(parts.sizes)

  async function whileHeld<T>(call: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    try {
      return await call()
    } catch (error) {
      if (error instanceof GateError && hasEnded(error)) controller.abort(leaseEnded(lostBy(error)))
      signal.throwIfAborted()
      throw error
    }
  }

  const context: TaskContext = {
    task,
    signal,
    log,
    progress: (progress) =>
      whileHeld(async () => {
        try {
          await client.reportProgress({ ...held, progress: { ...progress } }, { signal })
        } catch (error) {
          // Progress tells people how it goes: not worth failing the work for, if the server is only away.
          if (!(error instanceof GateError && error.retryable)) throw error
          log.warn({ error }, 'progress could not be reported')
        }
      }),
    upload: (content, { contentType, channel: chosen, targetUrl, onProgress } = {}) =>
      whileHeld(() => {
        const asked = chosen ?? task.result_channel ?? bySize(content)
        const channel = asked as UploadChoice['channel'] // named by the server, if not by the handler
        const choice = {
          ...(contentType !== undefined && { content_type: contentType }),
          ...(channel !== undefined && { channel }),
          ...(targetUrl !== undefined && { target_url: targetUrl }),
        }
        const watch = (progress: UploadProgress) => {
          onProgress?.(progress)
          parts.onUpload?.(task, progress)
        }
        return client.uploadTaskResult({ ...held, ...choice }, content, { signal, onProgress: watch })
      }),
    heartbeat: async () => void (await whileHeld(() => client.renewLease(held, { signal }))),
  }
  return {
    task,
    context,
    startedAt: parts.now,
    isReported: false,
    end: (reason) => controller.abort(reason),
  }
}

function hasEnded({ code }: GateError): boolean {
  return code === 'lease_invalid_or_expired' || code === 'not_found'
}

function lostBy({ message, details }: GateError) {
  return { message, taskStatus: typeof details.task_status === 'string' ? details.task_status : null }
}
