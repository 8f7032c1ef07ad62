// Waiting for a task to end, with a line for each thing that changes meanwhile.
import { GateError } from '@asyncgate/sdk'
import type { ExitCode } from './command.ts'
import { callServer, type ServerCall, show, type ShownCall, type View } from './server-call.ts'
import { renderFacts } from './table.ts'
import { isTerminal, progressText, resultFacts, styleOf, type Task } from './task-text.ts'
import { painter, safe } from './text.ts'
import { hasColour } from './terminal.ts'

/** Progress shows up this late at worst; the call itself returns at once when the task ends. */
const HOLD_SECONDS = 2

/** Who waits this long for a task to begin wants to know why it does not. */
const WHY_AFTER_MS = 5_000
const WHY_AGAIN_MS = 30_000

export interface Waiting {
  readonly taskId: string
  readonly timeoutSeconds?: number | undefined
}

/** 0 when it succeeded, 1 when it did not or the time was up. */
export async function waitForTask(
  { taskId, timeoutSeconds }: Waiting,
  call: ServerCall & ShownCall,
): Promise<ExitCode> {
  const { terminal } = call
  const until =
    timeoutSeconds === undefined ? Number.POSITIVE_INFINITY : terminal.now() + timeoutSeconds * 1_000
  const report = changeReporter(call)
  const wonder = queueReporter(taskId, call)
  let patient = false
  for (;;) {
    const holdSeconds = Math.max(0, Math.min(HOLD_SECONDS, Math.ceil((until - terminal.now()) / 1_000)))
    const task = await callServer(
      'getTask',
      { task_id: taskId, wait_seconds: holdSeconds },
      { ...call, patient },
    )
    patient = true // it was there, so it will come back
    report(task)
    await wonder(task)
    if (isTerminal(task)) {
      show(task, (ended, view) => resultText(ended, view.paint), call)
      return task.status === 'succeeded' ? 0 : 1
    }
    if (terminal.now() >= until) {
      terminal.err.write(
        `Still ${task.status}. Nothing is lost: ask again with "asyncgate task wait ${taskId}".\n`,
      )
      if (call.values.json) show(task, () => '', call)
      return 1
    }
  }
}

/** On stderr, so that stdout holds the result alone. */
function changeReporter({ terminal, values }: ServerCall & ShownCall): (task: Task) => void {
  const paint = painter(hasColour(terminal.err, terminal.env))
  let last = ''
  return (task) => {
    const line = `${paint(styleOf(task.status), task.status)} ${safe(progressText(task.progress))}`.trimEnd()
    if (line === last || values.json) return
    last = line
    terminal.err.write(`${line}\n`)
  }
}

/** Says why the task does not begin, once that takes long, and again when the reason has changed. */
function queueReporter(taskId: string, call: ServerCall & ShownCall): (task: Task) => Promise<void> {
  const { terminal, values } = call
  let askAt: number | undefined
  let last = ''
  return async ({ status }) => {
    if (status !== 'queued' || values.json) {
      askAt = undefined
      return
    }
    askAt ??= terminal.now() + WHY_AFTER_MS
    if (terminal.now() < askAt) return
    askAt = terminal.now() + WHY_AGAIN_MS
    const text = (await reasonsOf(taskId, call)).map(({ message }) => `  ${safe(message)}\n`).join('')
    if (text === '' || text === last) return
    last = text
    terminal.err.write(`Still queued:\n${text}`)
  }
}

/** Nothing, where the credential may read the task but not ask why: who waits goes on waiting. */
export async function reasonsOf(taskId: string, call: ServerCall) {
  try {
    return (await callServer('explainTask', { task_id: taskId }, call)).reasons
  } catch (error) {
    if (error instanceof GateError) return []
    throw error
  }
}

function resultText(task: Task, paint: View['paint']): string {
  return renderFacts([['task', task.task_id], ...resultFacts(task)], paint)
}
