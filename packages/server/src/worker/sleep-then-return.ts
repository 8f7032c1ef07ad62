// sleep_then_return: takes as long as it is told, with progress, and returns what it was given. For trying out waits, progress
// and cancels.
import type { Handler, TaskContext } from '@asyncgate/sdk'
import { z } from 'zod'
import type { Clock } from '../clock.ts'

export const SleepThenReturn = z.strictObject({
  seconds: z.number().min(0).max(86_400),
  value: z.unknown().optional(),
})

const STEPS = 10
/** Progress more often than this helps nobody. */
const STEP_MS_MIN = 1_000

export function sleepThenReturn(clock: Clock): Handler<z.output<typeof SleepThenReturn>> {
  return async ({ seconds, value }, context) => {
    const wholeMs = seconds * 1_000
    const stepMs = Math.max(wholeMs / STEPS, STEP_MS_MIN)
    for (let sleptMs = 0; sleptMs < wholeMs; sleptMs += stepMs) {
      if (sleptMs > 0) await context.progress({ percent: Math.round((sleptMs / wholeMs) * 100) })
      await sleep(Math.min(stepMs, wholeMs - sleptMs), context, clock)
    }
    return value
  }
}

function sleep(ms: number, { signal }: TaskContext, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      cancel()
      reject(signal.reason)
    }
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', stop)
      resolve()
    })
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
