// When and how often the client repeats a call by itself.
import { contract, type OperationKey } from '../contract/index.ts'
import type { Operation } from '../contract/operation.ts'
import { GateError } from '../errors.ts'

export interface Retry {
  /** Repeats before giving up; default 5. */
  readonly max?: number
  /** Waits between attempts; for tests. Rejects when the signal fires. */
  readonly sleep?: (delayMs: number, signal?: AbortSignal) => Promise<void>
}

const RETRIES_MAX = 5
const FIRST_DELAY_MS = 5_000
const DELAY_MS_MAX = 60_000

/** Creations are safe because the client gives them idempotency keys. */
const KEYED: ReadonlySet<OperationKey> = new Set(['createTask', 'createTasks'])

export function isSafeToRepeat(key: OperationKey): boolean {
  const { effect }: Operation = contract[key]
  return effect === 'read' || effect === 'idempotent' || KEYED.has(key)
}

export async function withRetries<T>(
  attempt: () => Promise<T>,
  retry: Retry,
  signal?: AbortSignal,
): Promise<T> {
  const { max = RETRIES_MAX, sleep = sleepFor } = retry
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof GateError) || !error.retryable || repeats >= max) throw error
      await sleep(delayMs(error, repeats), signal)
    }
  }
}

/** What the server asks for, else 5, 10, 20, 40, 60 seconds. */
function delayMs({ details }: GateError, repeats: number): number {
  const asked = details.retry_after
  const ms = typeof asked === 'number' ? asked * 1_000 : FIRST_DELAY_MS * 2 ** repeats
  return Math.min(ms, DELAY_MS_MAX)
}

function sleepFor(delay: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const wake = () => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(wake, delay)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
