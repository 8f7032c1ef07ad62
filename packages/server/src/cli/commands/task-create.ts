// asyncgate task create
import { contract } from '@asyncgate/sdk'
import { command } from '../command.ts'
import { UsageError } from '../failure.ts'
import { fieldsOf } from '../fields.ts'
import { parseJson } from '../parse.ts'
import { callServer, principalOf, SERVER_OPTIONS, show } from '../server-call.ts'
import { waitForTask } from '../task-wait.ts'
import type { Terminal } from '../terminal.ts'

export const taskCreate = command({
  name: 'task create',
  group: 'tasks',
  summary: contract.createTask.summary,
  details:
    'It returns once the task is durably stored; a worker does it later. Nothing needs to be remembered: ' +
    '"asyncgate obligations" tells what is still open, in this session or any later one.',
  fields: () => fieldsOf(contract.createTask, { except: ['requirements', 'recipient'] }),
  options: {
    'payload-file': {
      kind: 'text',
      shows: '<file>',
      about: 'Read the payload from a file, or from stdin with "-".',
    },
    capability: { kind: 'list', about: 'All of these the worker must have; repeat it or use commas.' },
    tag: { kind: 'list', about: 'Labels to find the task by; repeat it or use commas.' },
    recipient: { kind: 'text', shows: '<kind/id>', about: 'Who is owed the outcome; default you.' },
    wait: { kind: 'switch', about: 'Stay until the task has ended and show its result.' },
    ...SERVER_OPTIONS,
  },
  examples: [
    {
      line: `asyncgate task create --type echo --payload '{"a":1}' --wait`,
      about: 'hand off work and stay for the result',
    },
    {
      line: 'asyncgate task create --type report.render --payload-file - --idempotency-key report-42 < report.json',
      about: 'a payload from stdin, safe to repeat',
    },
  ],
  async run(call) {
    const { values, terminal } = call
    const { capability, tag, recipient } = values
    const payload = await payloadFrom(values['payload-file'], call.input, terminal)
    const created = await callServer(
      'createTask',
      {
        ...call.input,
        ...payload,
        ...((capability || tag) && { requirements: { capabilities: capability ?? [], tags: tag ?? [] } }),
        ...(recipient !== undefined && { recipient: recipientOf(recipient) }),
      },
      call,
    )
    if (values.wait) {
      // Who stops waiting must still be able to ask for it.
      if (!values.json) call.terminal.err.write(`task ${created.task_id}\n`)
      return waitForTask({ taskId: created.task_id }, call)
    }
    show(
      created,
      ({ task_id: id, status, is_duplicate: isDuplicate, receipt_id: receiptId }) =>
        `${isDuplicate ? 'Already there' : 'Created'}: task ${id} (${status})\n` +
        `Obligation: receipt ${receiptId}\n` +
        `Follow it with: asyncgate task wait ${id}`,
      call,
    )
    return 0
  },
})

function recipientOf(text: string) {
  const { kind, id } = principalOf('--recipient', text)
  return { principal_kind: kind, principal_id: id }
}

async function payloadFrom(
  file: string | undefined,
  input: Readonly<Record<string, unknown>>,
  terminal: Terminal,
) {
  if (file === undefined) return {}
  if (input.payload !== undefined) throw new UsageError('Give --payload or --payload-file, not both.')
  const text = await (file === '-' ? terminal.readStdin() : terminal.readFile(file))
  return { payload: parseJson(file === '-' ? 'stdin' : file, text) }
}
