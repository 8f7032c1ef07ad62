// Asking the scheduler: a request is a task like any other, created and waited for.
import { Refusal } from './failure.ts'
import { callServer, SERVER_OPTIONS, type ServerCall } from './server-call.ts'
import { isTerminal } from './task-text.ts'

export const SCHEDULER_ID = 'scheduler'
export const SCHEDULER_FILE = './asyncgate-scheduler.db'

export const SCHEDULE_OPTIONS = {
  timeout: {
    kind: 'whole',
    shows: '<seconds>',
    about: 'Take the request back if no scheduler has answered after this long; default 30.',
  },
  ...SERVER_OPTIONS,
} as const

const TIMEOUT_SECONDS = 30
/** As long as one call may be held. */
const HOLD_SECONDS_MAX = 60

export interface ScheduleCall extends ServerCall {
  readonly values: ServerCall['values'] & { readonly timeout?: number | undefined }
}

export interface ScheduleRequest {
  readonly type: `schedule.${string}`
  readonly payload: object
}

/** R is what the scheduler answers to requests of that type. */
export async function askScheduler<R>({ type, payload }: ScheduleRequest, call: ScheduleCall): Promise<R> {
  const { task_id: taskId } = await callServer('createTask', { type, payload }, call)
  const task = await untilEnded(taskId, call)
  if (task.result?.outcome === 'succeeded') return task.result.result as R
  throw new Refusal(`${messageOf(task.result?.error)} [task ${taskId}]`)
}

async function untilEnded(taskId: string, call: ScheduleCall) {
  const seconds = call.values.timeout ?? TIMEOUT_SECONDS
  const until = call.terminal.now() + seconds * 1_000
  for (;;) {
    const left = Math.ceil((until - call.terminal.now()) / 1_000)
    const wait_seconds = Math.max(0, Math.min(left, HOLD_SECONDS_MAX))
    const task = await callServer('getTask', { task_id: taskId, wait_seconds }, call)
    if (isTerminal(task)) return task
    if (call.terminal.now() < until) continue
    // So that nobody takes it up when nobody expects it any more; unless it has just been answered.
    const { ok } = await callServer('cancelTask', { task_id: taskId, reason: 'no scheduler answered' }, call)
    if (!ok) return callServer('getTask', { task_id: taskId }, call)
    throw new Refusal(
      `No scheduler has answered within ${seconds} s, and the request was taken back. Start one with "asyncgate scheduler".`,
    )
  }
}

function messageOf(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  return typeof message === 'string' ? `${message} (${String(code)})` : 'The request was canceled.'
}
