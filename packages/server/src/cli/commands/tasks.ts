// asyncgate task get | list | wait | explain | cancel | retry
import { contract, type GateContract, type Reply } from '@asyncgate/sdk'
import { command } from '../command.ts'
import { fieldsOf } from '../fields.ts'
import { callServer, SERVER_OPTIONS, show, type View } from '../server-call.ts'
import { isWaiting, styleOf, taskFacts, taskTable } from '../task-text.ts'
import { reasonsOf, waitForTask } from '../task-wait.ts'
import { safe } from '../text.ts'

const TASK_ID = [{ name: 'task_id', about: 'The id that "task create" and "task list" show.' }] as const
const SOME_ID = '0198c0de-0000-7000-8000-000000000001'

export const taskGet = command({
  name: 'task get',
  group: 'tasks',
  summary: contract.getTask.summary,
  positionals: TASK_ID,
  fields: () => fieldsOf(contract.getTask, { except: ['task_id'] }),
  options: SERVER_OPTIONS,
  examples: [
    { line: `asyncgate task get ${SOME_ID}`, about: 'status, progress and result' },
    {
      line: `asyncgate task get ${SOME_ID} --wait-seconds 30 --json`,
      about: 'for a program: held until it ends, at most 30 s',
    },
  ],
  async run(call) {
    const task = await callServer('getTask', { ...call.input, task_id: call.positionals[0] }, call)
    const isBackoff = task.attempt > 0 && isWaiting(task, call.terminal.now())
    const reasons = isBackoff && !call.values.json ? await reasonsOf(task.task_id, call) : []
    const lastError = reasons.find(({ reason }) => reason === 'delayed')?.last_error
    show(task, (reply, view) => taskFacts(reply, view, lastError), call)
    return 0
  },
})

export const taskList = command({
  name: 'task list',
  group: 'tasks',
  summary: contract.listTasks.summary,
  fields: () => fieldsOf(contract.listTasks),
  options: SERVER_OPTIONS,
  examples: [
    { line: 'asyncgate task list --status queued --type echo', about: 'what waits for an echo worker' },
    { line: 'asyncgate task list --status failed --dead-letter', about: 'what waits for "task retry"' },
  ],
  async run(call) {
    show(await callServer('listTasks', call.input, call), taskTable, call)
    return 0
  },
})

export const taskWait = command({
  name: 'task wait',
  group: 'tasks',
  summary: 'Wait until a task has ended, and show its result.',
  details: 'Exit code 0 when it succeeded, 1 when it failed, was canceled, or the time was up.',
  positionals: TASK_ID,
  options: {
    timeout: {
      kind: 'whole',
      shows: '<seconds>',
      about: 'Give up waiting after this long; the task goes on.',
    },
    ...SERVER_OPTIONS,
  },
  examples: [
    { line: `asyncgate task wait ${SOME_ID}`, about: 'progress on stderr, the result on stdout' },
    {
      line: `asyncgate task wait ${SOME_ID} --timeout 60 --json`,
      about: 'the whole task as JSON, after a minute at most',
    },
  ],
  run: (call) => waitForTask({ taskId: call.positionals[0]!, timeoutSeconds: call.values.timeout }, call),
})

export const taskExplain = command({
  name: 'task explain',
  group: 'tasks',
  summary: contract.explainTask.summary,
  positionals: TASK_ID,
  options: SERVER_OPTIONS,
  examples: [
    {
      line: `asyncgate task explain ${SOME_ID}`,
      about: 'the time, dependency, limit or capability it waits for',
    },
    { line: `asyncgate task explain ${SOME_ID} --json`, about: 'the reasons as codes' },
  ],
  async run(call) {
    show(await callServer('explainTask', { task_id: call.positionals[0] }, call), explanation, call)
    return 0
  },
})

const STANDING = {
  queued: 'no worker would be given it now',
  leased: 'a worker has it',
  running: 'a worker is on it',
  succeeded: 'it has ended',
  failed: 'it has ended',
  canceled: 'it has ended',
} as const satisfies Record<Explanation['status'], string>

type Explanation = Reply<GateContract['explainTask']>

function explanation({ status, claimable, reasons }: Explanation, { paint }: View): string {
  const readiness = claimable ? 'a worker that fits would be given it now' : STANDING[status]
  const lines = reasons.map(
    ({ reason, message }) => `- ${safe(message)} ${paint('dim', `[${safe(reason)}]`)}`,
  )
  return [`${paint(styleOf(status), status)}: ${readiness}`, ...lines].join('\n')
}

export const taskCancel = command({
  name: 'task cancel',
  group: 'tasks',
  summary: contract.cancelTask.summary,
  positionals: TASK_ID,
  fields: () => fieldsOf(contract.cancelTask, { except: ['task_id'] }),
  options: SERVER_OPTIONS,
  examples: [
    { line: `asyncgate task cancel ${SOME_ID}`, about: 'its worker learns of it at its next call' },
    {
      line: `asyncgate task cancel ${SOME_ID} --reason "asked twice"`,
      about: 'the reason is kept in the receipt',
    },
  ],
  async run(call) {
    const reply = await callServer('cancelTask', { ...call.input, task_id: call.positionals[0] }, call)
    const text = reply.ok ? 'Canceled.' : `Left as it was: it had already ended (${reply.status}).`
    show(reply, () => text, call)
    return reply.ok ? 0 : 1
  },
})

export const taskRetry = command({
  name: 'task retry',
  group: 'tasks',
  summary: contract.retryTask.summary,
  positionals: TASK_ID,
  options: SERVER_OPTIONS,
  examples: [
    { line: `asyncgate task retry ${SOME_ID}`, about: 'the failed task stays as it was; a new one is made' },
    { line: 'asyncgate task list --status failed --dead-letter', about: 'find what can be retried' },
  ],
  async run(call) {
    const reply = await callServer('retryTask', { task_id: call.positionals[0] }, call)
    const verb = reply.is_duplicate ? 'Was retried before' : 'Retried'
    show(reply, ({ task_id: id, status }) => `${verb}: as task ${id} (${status})`, call)
    return 0
  },
})
