// AsyncGate as its users run it: `asyncgate serve` in a process of its own, with a key, reached over HTTP.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Lab } from './lab.ts'

const MAIN = join(import.meta.dirname, '../../packages/server/src/cli/main.ts')
const WITHOUT_LEDGER = join(import.meta.dirname, 'without-ledger.ts')

export interface GateServer {
  readonly url: string
  readonly key: string
  readonly pid: number
  stop(): Promise<void>
}

export interface GateServerOptions {
  readonly database: string
  /** A folder for the CPU profile that the server writes when it stops. */
  readonly profileFolder?: string | undefined
  /** What the ledger costs shows beside a server that writes none: see without-ledger.ts. */
  readonly withoutLedger?: boolean
  readonly env?: Readonly<Record<string, string>>
}

export async function startGateServer(lab: Lab, options: GateServerOptions): Promise<GateServer> {
  const key = randomBytes(24).toString('hex')
  const logFile = join(lab.folder, `gate-${key.slice(0, 8)}.log`)
  const log = openSync(logFile, 'w')
  const profiling = options.profileFolder
    ? ['--cpu-prof', '--cpu-prof-dir', options.profileFolder, '--cpu-prof-interval', '500']
    : []
  const build = options.withoutLedger ? ['--import', WITHOUT_LEDGER] : []
  const { PATH, HOME } = process.env
  const args = [...profiling, ...build, MAIN, 'serve', '--json', '--port', '0']
  const child = spawn(process.execPath, args, {
    cwd: lab.folder,
    // Not as a flag: passwords have no place in a list of processes.
    env: {
      PATH,
      HOME,
      ...options.env,
      ASYNCGATE_AUTH_API_KEY: key,
      ASYNCGATE_DATABASE_URL: options.database,
    },
    stdio: ['ignore', 'pipe', log],
  })
  closeSync(log)
  const exited = once(child, 'exit')
  const stop = lab.onClose(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    await exited
  })
  const lines = createInterface({ input: child.stdout! }) // piped above
  const [line] = (await Promise.race([once(lines, 'line'), exited.then(() => [''])])) as [string]
  if (line === '') throw new Error(`asyncgate did not start:\n${readFileSync(logFile, 'utf8').slice(-2_000)}`)
  const { url } = JSON.parse(line) as { url: string }
  return { url, key, pid: child.pid ?? 0, stop }
}
