// asyncgate dev | serve
import { type Config, requireServable } from '../../config.ts'
import type { Log } from '../../log.ts'
import { HARMLESS_TYPES, type ReferenceType } from '../../worker/types.ts'
import { banner, DEVELOPMENT_WARNING, listeningLine } from '../banner.ts'
import { command, type ExitCode } from '../command.ts'
import { Refusal } from '../failure.ts'
import { openLog, referenceWorker, scheduler, startServer } from '../gate-access.ts'
import { leadProcesses } from '../processes/leader.ts'
import { findMembership, type Membership } from '../processes/member.ts'
import { SCHEDULER_FILE, SCHEDULER_ID } from '../schedule-call.ts'
import { DATABASE_OPTIONS, LISTEN_OPTIONS, readConfig } from '../server-options.ts'
import { hasColour, type StopSignal, type Terminal } from '../terminal.ts'
import { painter } from '../text.ts'

const OTHER_PORT =
  'Choose another with --port (after npm start: npm start -- --port 8421), or --port 0 for any free one.'

/** Whoever stops a server that they try out does not want to wait. */
const DEV_GRACE_SECONDS = 1

const OPTIONS = {
  ...LISTEN_OPTIONS,
  ...DATABASE_OPTIONS,
  json: {
    kind: 'switch',
    about: 'Print the bound address as the first line of JSON on stdout. Logs go to stderr.',
  },
} as const

export const dev = command({
  name: 'dev',
  group: 'run',
  summary: 'Start a server, a worker and a scheduler on this machine, without credentials.',
  details:
    'Listens on loopback only and refuses everything else, since it asks nobody for a key. Tasks and receipts are kept ' +
    'in ./asyncgate.db unless --database says otherwise. A worker beside the server does tasks of the types ' +
    `${HARMLESS_TYPES.join(', ')}, as "asyncgate worker" would, and a scheduler what "asyncgate schedule" asks for.`,
  configured: true,
  options: {
    ...OPTIONS,
    'no-worker': { kind: 'switch', about: 'Start the server alone.' },
  },
  examples: [
    { line: 'asyncgate dev', about: 'on http://127.0.0.1:8420' },
    {
      line: 'asyncgate dev --port 0 --database memory: --json',
      about: 'for a test: any free port, nothing kept',
    },
  ],
  run: (call) => {
    const { config } = readConfig(call, { 'auth-mode': 'dev' })
    return serveUntilStopped(config, call, call.values['no-worker'] ? undefined : besideOf(config))
  },
})

export const serve = command({
  name: 'serve',
  group: 'run',
  summary: 'Start a server that asks its callers for a key.',
  details:
    'Callers have API keys of their own ("asyncgate keys create"), or share the one from ASYNCGATE_AUTH_API_KEY or ' +
    'auth.api_key in the file. SIGTERM and Ctrl-C stop it gracefully.',
  configured: true,
  options: {
    ...OPTIONS,
    processes: {
      kind: 'text',
      shows: '<number>',
      about: 'Server processes that share the port, for more than one core; on PostgreSQL only.',
    },
  },
  examples: [
    { line: 'ASYNCGATE_AUTH_API_KEY=$(openssl rand -hex 24) asyncgate serve', about: 'on SQLite' },
    {
      line: 'ASYNCGATE_DATABASE_URL=postgres://gate:secret@db/gate asyncgate serve --host 0.0.0.0 --config gate.yaml',
      about: 'on PostgreSQL, reachable by others; any number of such servers may share the database',
    },
    {
      line: 'ASYNCGATE_DATABASE_URL=postgres://gate:secret@db/gate asyncgate serve --processes 4',
      about: 'four processes behind one port, for a machine with more than four cores',
    },
  ],
  async run(call) {
    const { config } = readConfig(call)
    const membership = findMembership(config, call.terminal)
    if (membership)
      return serveUntilStopped(membership.config, { ...call, ...membership, membership }).finally(
        membership.leave,
      )
    if (config.processes === 1) return serveUntilStopped(config, call)
    requireServable(config)
    const log = await openLog(config)
    return leadProcesses({ count: config.processes, terminal: call.terminal, log })
  },
})

interface ServeCall {
  readonly values: { readonly json?: boolean | undefined }
  readonly terminal: Terminal
  /** Where this process is one of several that serve as one. */
  readonly membership?: Membership
}

async function serveUntilStopped(
  config: Config,
  { values, terminal, membership }: ServeCall,
  beside?: Beside,
): Promise<ExitCode> {
  requireServable(config)
  const log = await openLog(config)
  // Listened for before the start: a signal that comes during it must not be lost.
  const stopped = stopSignal(terminal, log)
  const gate = await start(config, log, membership)
  membership?.answerFigures(() => gate.metrics.read())
  if (config.tls.certFile !== null) terminal.onReloadSignal(() => void gate.reload()) // it does not reject
  const { out } = terminal
  if (config.auth.mode === 'dev') log.warn(DEVELOPMENT_WARNING)
  if (values.json) out.write(`${listeningLine(gate)}\n`)
  else
    out.write(
      banner(gate, {
        config,
        durability: await durabilityOf(gate),
        beside,
        paint: painter(hasColour(out, terminal.env)),
      }),
    )
  const workers = beside ? await startBeside(gate, { ...beside, terminal, log }) : []
  const signal = await stopped
  await Promise.all(workers.map((worker) => worker.stop({ graceSeconds: DEV_GRACE_SECONDS })))
  if (await gate.stop()) {
    log.info('stopped')
    return 0
  }
  log.error('stopped without the database, which did not answer; calls that were under way may be repeated')
  terminal.abort(signal)
  return 1
}

type Gate = Awaited<ReturnType<typeof startServer>>

/** What runs with the server in development. */
interface Beside {
  readonly workerTypes: readonly ReferenceType[]
  readonly schedulerFile: string
}

/** The scheduler's file goes with the database: its schedules are those of that ledger. */
function besideOf({ database: { url } }: Config): Beside {
  const ofDatabase = () => `${url.slice('sqlite:'.length).replace(/\.db$/, '')}-scheduler.db`
  const elsewhere = url === 'memory:' ? ':memory:' : SCHEDULER_FILE
  return {
    workerTypes: HARMLESS_TYPES,
    schedulerFile: url.startsWith('sqlite:') ? ofDatabase() : elsewhere,
  }
}

interface StartedBeside extends Beside {
  readonly terminal: Terminal
  readonly log: Log
}

/** They call over HTTP as any others would; only their renewals share the server's thread, which nothing there blocks. */
async function startBeside(gate: Gate, { workerTypes, schedulerFile, terminal, log }: StartedBeside) {
  const client = terminal.connect({ url: gate.url })
  const common = { client, log, renewFrom: 'timer', stopOnSignals: false } as const
  const workers = [
    await referenceWorker({ ...common, workerId: 'dev-worker', types: workerTypes }),
    await scheduler({ ...common, schedulerId: SCHEDULER_ID, path: schedulerFile }),
  ]
  for (const worker of workers)
    worker.run().catch((error: unknown) => log.error({ error }, 'a worker has ended; the server goes on'))
  return workers
}

async function start(config: Config, log: Log, membership?: Membership): Promise<Gate> {
  try {
    return await startServer(config, { log, ...(membership && { figuresOfAll: membership.figuresOfAll }) })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EADDRINUSE') throw new Refusal(`${portTaken(config)} ${OTHER_PORT}`)
    if (code === 'EADDRNOTAVAIL')
      throw new Refusal(`${config.host} is not an address of this machine. Choose another with --host.`)
    if (code === 'EACCES')
      throw new Refusal(`Port ${config.port} is not open to you. Choose one above 1023 with --port.`)
    throw error
  }
}

function portTaken({ host, port }: Config): string {
  return `Port ${port} on ${host} is taken, perhaps by another AsyncGate.`
}

/** Resolves at the first signal; a second one ends the process at once. */
function stopSignal(terminal: Terminal, log: Log): Promise<StopSignal> {
  return new Promise((resolve) => {
    let stopping = false
    terminal.onStopSignal((signal) => {
      if (stopping) return terminal.abort(signal)
      stopping = true
      log.info({ signal }, 'stopping; once more to end at once')
      resolve(signal)
    })
  })
}

async function durabilityOf(gate: Gate): Promise<string> {
  const { level, detail } = await gate.durability()
  return `${level}: ${detail}`
}
