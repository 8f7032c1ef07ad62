// asyncgate worker
import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { didYouMean } from '../../config/nearest.ts'
import { clientSettings } from '../../config.ts'
import type { CommandParts } from '../../worker/command.ts'
import { HARMLESS_TYPES, REFERENCE_TYPES, type ReferenceType } from '../../worker/types.ts'
import { command } from '../command.ts'
import { UsageError } from '../failure.ts'
import { openLog, referenceWorker } from '../gate-access.ts'
import { SERVER_OPTIONS } from '../server-call.ts'
import { runUntilStopped } from '../stop.ts'
import type { Terminal } from '../terminal.ts'

export const worker = command({
  name: 'worker',
  group: 'run',
  summary: 'Do tasks of the types echo, sleep_then_return, http_get and command.',
  details:
    'Claims tasks from a server (its key in ASYNCGATE_API_KEY), keeps their leases, reports. http_get reaches public ' +
    'addresses only. command runs the programs that --allow-program lists and no others, without a shell, in --folder or ' +
    'below it. SIGTERM and Ctrl-C let tasks end within --grace-seconds and give the rest back. For work of your own write ' +
    'a worker with @asyncgate/sdk.',
  options: {
    type: { kind: 'list', about: 'Only these types; default all that are possible with the other options.' },
    'allow-program': {
      kind: 'list',
      shows: '<name,path>',
      about: 'Programs that tasks of the type command may run: names found in PATH, or absolute paths.',
    },
    folder: { kind: 'text', shows: '<path>', about: 'Where programs run; needed with --allow-program.' },
    id: { kind: 'text', shows: '<id>', about: 'Stable worker id; default reference-worker.' },
    capability: { kind: 'list', about: 'What this worker can do, for tasks that require it.' },
    concurrency: { kind: 'whole', about: 'Tasks at one time; default 10.' },
    'grace-seconds': { kind: 'whole', about: 'How long a stop waits for tasks; default 25.' },
    url: SERVER_OPTIONS.url,
    json: { kind: 'switch', about: 'Log lines as JSON, on a terminal too.' },
  },
  examples: [
    {
      line: 'asyncgate worker',
      about: 'echo, sleep_then_return and http_get for the server on this machine',
    },
    {
      line: 'asyncgate worker --type command --allow-program jq,sha256sum --folder ./data --concurrency 2',
      about: 'two programs, two at a time',
    },
  ],
  async run({ values, terminal }) {
    const programs = values['allow-program'] ?? []
    const types = readTypes(values.type, programs.length > 0)
    const log = await openLog({
      log: { level: 'info', format: values.json ? 'json' : 'auto' },
      instanceId: 'auto',
    })
    const reference = await referenceWorker({
      client: terminal.connect(clientSettings(values, terminal.env)),
      workerId: values.id ?? 'reference-worker',
      types,
      log,
      stopOnSignals: false,
      ...(types.includes('command') && { command: await readCommand(programs, values.folder, terminal) }),
      ...(values.capability && { capabilities: values.capability }),
      ...(values.concurrency !== undefined && { concurrency: values.concurrency }),
      ...(values['grace-seconds'] !== undefined && { graceSeconds: values['grace-seconds'] }),
    })
    await runUntilStopped(reference, terminal)
    return 0
  },
})

function readTypes(wanted: readonly string[] | undefined, hasPrograms: boolean): readonly ReferenceType[] {
  const possible = hasPrograms ? REFERENCE_TYPES : HARMLESS_TYPES
  const unknown = wanted?.find((type) => !REFERENCE_TYPES.some((known) => known === type))
  if (unknown !== undefined)
    throw new UsageError(
      `--type can't be "${unknown}".${didYouMean(unknown, REFERENCE_TYPES)} Give some of ${REFERENCE_TYPES.join(', ')}.`,
    )
  if (wanted?.includes('command') && !hasPrograms)
    throw new UsageError('The type command needs --allow-program: which programs may tasks run?')
  return wanted === undefined ? possible : possible.filter((type) => wanted.includes(type))
}

async function readCommand(
  names: readonly string[],
  folder: string | undefined,
  { cwd, env }: Terminal,
): Promise<CommandParts> {
  if (folder === undefined) throw new UsageError('--folder is missing: where may programs run?')
  const root = resolve(cwd, folder)
  const isFolder = await stat(root).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder) throw new UsageError(`--folder: ${root} is not a folder.`)
  const files = await Promise.all(
    names.map(async (name) => [name, await findProgram(name, env.PATH)] as const),
  )
  const { PATH, LANG } = env
  return {
    programs: new Map(files),
    folder: root,
    env: { ...(PATH !== undefined && { PATH }), ...(LANG !== undefined && { LANG }) },
  }
}

/** Found once, at the start: what PATH or a link leads to later cannot put another program in its place. */
async function findProgram(name: string, path = ''): Promise<string> {
  const places = isAbsolute(name) ? [name] : path.split(delimiter).map((place) => join(place, name))
  for (const place of name.includes('/') && !isAbsolute(name) ? [] : places) {
    const isRunnable = await access(place, constants.X_OK).then(
      async () => (await stat(place)).isFile(),
      () => false,
    )
    if (isRunnable) return realpath(place)
  }
  throw new UsageError(
    `--allow-program: there is no program ${name}. Give a name in PATH or an absolute path.`,
  )
}
