// Waiting for a task to end, with a line for each thing that changes meanwhile.
import type { ExitCode } from './command.ts'
import { callServer, type ServerCall, show, type ShownCall, type View } from './server-call.ts'
import { renderFacts } from './table.ts'
import { isTerminal, progressText, resultFacts, styleOf, type Task } from './task-text.ts'
import { painter, safe } from './text.ts'
import { hasColour } from './terminal.ts'

/** Progress shows up this late at worst; the call itself returns at once when the task ends. */
const HOLD_SECONDS = 2

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

function resultText(task: Task, paint: View['paint']): string {
  const facts = task.result ? resultFacts(task.result) : []
  return renderFacts([['task', task.task_id], ...facts], paint)
}
