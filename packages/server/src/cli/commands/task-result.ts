// asyncgate task result
import { contract, type Download, type GateContract, type Reply } from '@asyncgate/sdk'
import { command, type ExitCode } from '../command.ts'
import { callServer, clientOf, SERVER_OPTIONS, type ServerCall, show } from '../server-call.ts'
import { sizeText } from '../size-text.ts'
import { jsonText } from '../task-text.ts'
import { safeLines } from '../text.ts'

const SOME_ID = '0198c0de-0000-7000-8000-000000000001'

export const taskResult = command({
  name: 'task result',
  group: 'tasks',
  summary: contract.fetchTaskResult.summary,
  details:
    'Its checksum is verified. To a file or a pipe it goes as it is, of any size; a terminal shows the beginning of it.',
  positionals: [{ name: 'task_id', about: 'The id that "task create" and "task list" show.' }],
  options: {
    out: {
      kind: 'text',
      short: 'o',
      shows: '<file>',
      about: 'Write it to this file, once it is there whole.',
    },
    pointer: {
      kind: 'text',
      shows: '<pointer>',
      about: "One of the task's pointers, where it has several; default its result.",
    },
    ...SERVER_OPTIONS,
    json: { kind: 'switch', about: 'Print what is known of it, and its beginning, as JSON.' },
  },
  examples: [
    { line: `asyncgate task result ${SOME_ID}`, about: 'on the screen' },
    { line: `asyncgate task result ${SOME_ID} --out film.mp4`, about: 'into a file, of any size' },
    { line: `asyncgate task result ${SOME_ID} | jq .pages`, about: 'into another program' },
  ],
  async run(call) {
    const { values, terminal } = call
    const wanted = {
      task_id: call.positionals[0]!,
      ...(values.pointer !== undefined && { pointer: values.pointer }),
    }
    if (values.json || (values.out === undefined && terminal.out.isTTY)) {
      const reply = await callServer('fetchTaskResult', wanted, call)
      show(reply, beginning, call)
      return 0
    }
    return save(wanted, values.out ?? null, call)
  },
})

/** Nothing that a terminal would take for a command. */
function beginning(reply: Reply<GateContract['fetchTaskResult']>): string {
  if ('result' in reply) return jsonText(reply.result) ?? 'null'
  const { content, encoding, bytes, next_offset: next, pointer } = reply
  if (encoding === 'utf8' && content !== null)
    return next === null
      ? safeLines(content)
      : `${safeLines(content)}\n… ${sizeText(bytes ?? 0)} in all: use --out <file>`
  if (reply.download === null) return `It is kept by another store: ${safeLines(pointer)}`
  return `${safeLines(reply.content_type ?? 'content')}, ${sizeText(bytes ?? 0)}: use --out <file>`
}

async function save(
  wanted: { readonly task_id: string; readonly pointer?: string },
  path: string | null,
  call: ServerCall,
): Promise<ExitCode> {
  const { client, acting } = clientOf(call)
  const download = await client.downloadTaskResult({ ...wanted, ...acting })
  await call.terminal.save(path, watched(download, call))
  return 0
}

/** How far it is, on stderr where a person looks: a line that is written over. */
async function* watched(
  { content, bytes: total }: Download,
  { terminal: { err, now } }: ServerCall,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0
  let shownAt = 0
  const tell = () =>
    err.write(`\r${sizeText(bytes)}${total === null ? '' : ` of ${sizeText(total)}`}\u001B[K`)
  for await (const chunk of content) {
    bytes += chunk.length
    if (err.isTTY && now() - shownAt >= SHOWN_EVERY_MS) {
      shownAt = now()
      tell()
    }
    yield chunk
  }
  if (!err.isTTY) return
  tell()
  err.write('\n')
}

const SHOWN_EVERY_MS = 100
