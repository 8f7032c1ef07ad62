// The command line as child processes, for tests.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

const MAIN = join(import.meta.dirname, '../src/cli/main.ts')

/** The cache that the command line uses itself, here from its very first file on: TypeScript then need not be read at all. */
export const COMPILED = { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') }

export interface ProcessParts {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly input?: string
}

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export async function runCommand(args: readonly string[], parts: ProcessParts): Promise<Ended> {
  const child = spawnCli(args, parts)
  child.stdin!.end(parts.input ?? '')
  const [out, err, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit'),
  ])
  return { code, out, err }
}

export interface CliServer {
  readonly url: string
  readonly port: number
  /** What it has written to stderr so far. */
  err(): string
  /** The processes that it has started. */
  children(): number[]
  /** Its exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null>
}

/** Starts `dev` or `serve` on a free port and waits until it listens. */
export async function startCliServer(args: readonly string[], parts: ProcessParts): Promise<CliServer> {
  const child = spawnCli([...args, '--port', '0', '--json'], parts)
  let err = ''
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => {
    err += chunk
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const lines = createInterface({ input: child.stdout! })
  const [line] = (await Promise.race([once(lines, 'line'), exited.then(() => [''])])) as [string]
  if (line === '') throw new Error(`asyncgate ${args.join(' ')} did not start:\n${err}`)
  const { url, port } = JSON.parse(line) as { url: string; port: number }
  return {
    url,
    port,
    err: () => err,
    children: () => childrenOf(child.pid!),
    stop: async (signal) => {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal)
      const [code] = await exited
      return code
    },
  }
}

function childrenOf(pid: number): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number))
  return pairs.filter(([, parent]) => parent === pid).map(([id]) => id!)
}

export interface CliWorker {
  /** Its exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null>
}

/** Starts `asyncgate worker` and waits until it is ready. */
export async function startCliWorker(args: readonly string[], parts: ProcessParts): Promise<CliWorker> {
  const child = spawnCli(['worker', '--json', ...args], parts)
  const exited = once(child, 'exit') as Promise<[number | null]>
  let log = ''
  for await (const line of createInterface({ input: child.stderr! })) {
    log += `${line}\n`
    if (line.includes('"worker ready"')) {
      child.stderr!.resume()
      return {
        stop: async (signal) => {
          child.kill(signal)
          const [code] = await exited
          return code
        },
      }
    }
  }
  throw new Error(`asyncgate worker ${args.join(' ')} did not start:\n${log}`)
}

/** Only what the test names is in the environment, besides what a process needs to run. */
function spawnCli(args: readonly string[], { cwd, env }: ProcessParts): ChildProcess {
  const { PATH, HOME, TMPDIR } = process.env
  const needed = { PATH, HOME, TMPDIR, ...COMPILED }
  return spawn(process.execPath, [MAIN, ...args], { cwd, env: { ...needed, ...env }, stdio: 'pipe' })
}
