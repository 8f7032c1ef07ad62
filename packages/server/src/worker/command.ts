// command: runs one of the programs that the worker's owner has listed, without a shell, in a folder below the one given.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { realpath, stat } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import { FatalError, type Handler, RetryableError } from '@asyncgate/sdk'
import { z } from 'zod'
import { keepFirst } from './kept-output.ts'

export const RunCommand = z.strictObject({
  program: z.string(),
  args: z.array(z.string()).max(100).default([]),
  /** Below the worker's folder; default that folder itself. */
  folder: z.string().default('.'),
  stdin: z.string().default(''),
  timeout_seconds: z.number().min(1).max(86_400).default(300),
})

export interface CommandParts {
  /** Name that a task may use → file that is run. */
  readonly programs: ReadonlyMap<string, string>
  readonly folder: string
  /** All that the program finds in its environment, besides the task's id. */
  readonly env: Readonly<Record<string, string>>
}

const OUTPUT_BYTES_MAX = 64 * 1_024
/** After this long, a program that was asked to end is ended. */
const END_MS_MAX = 5_000

export function runCommand(parts: CommandParts): Handler<z.output<typeof RunCommand>> {
  return async ({ program, args, folder, stdin, timeout_seconds }, { task, signal }) => {
    const file = parts.programs.get(program)
    if (file === undefined) {
      const allowed = [...parts.programs.keys()].join(', ')
      throw new FatalError(`${program} is not allowed here. Allowed: ${allowed}.`, { code: 'not_allowed' })
    }
    if (args.some((arg) => arg.includes('\0'))) throw new FatalError('An argument holds NUL.')
    const timeout = AbortSignal.timeout(timeout_seconds * 1_000)
    const child = spawn(file, args, {
      cwd: await folderWithin(parts.folder, folder),
      env: { ...parts.env, ASYNCGATE_TASK_ID: task.task_id },
      argv0: program, // a file that is several programs in one goes by it
      shell: false,
      detached: true, // a group of its own, so that what it starts ends with it
      stdio: 'pipe',
    })
    return ended(child, { stdin, signal: AbortSignal.any([signal, timeout]) })
  }
}

/** Links and `..` are resolved before it is judged. */
export async function folderWithin(root: string, folder: string): Promise<string> {
  const outside = () =>
    new FatalError(`${folder} is not a folder below the worker's.`, { code: 'not_allowed' })
  if (folder.includes('\0')) throw outside()
  const real = await realpath(root)
  const found = await realpath(resolve(real, folder)).catch(() => undefined)
  if (found === undefined || !(await stat(found)).isDirectory()) throw outside()
  const way = relative(real, found)
  if (way === '..' || way.startsWith(`..${sep}`) || resolve(real, way) !== found) throw outside()
  return found
}

async function ended(child: ChildProcess, { stdin, signal }: { stdin: string; signal: AbortSignal }) {
  const stdout = keepFirst(child.stdout!, OUTPUT_BYTES_MAX)
  const stderr = keepFirst(child.stderr!, OUTPUT_BYTES_MAX)
  child.stdin!.on('error', () => {}).end(stdin) // a program need not read what it is given
  const stop = () => endGroup(child)
  signal.addEventListener('abort', stop, { once: true })
  const [exitCode, byWhat] = (await once(child, 'close').catch(explainStart)) as [
    number | null,
    string | null,
  ]
  signal.removeEventListener('abort', stop)
  if (signal.aborted)
    throw new RetryableError('The program was ended: its time was up.', { code: 'timed_out' })
  const said = { exit_code: exitCode, stdout: stdout.text(), stderr: stderr.text() }
  if (exitCode === 0) return { ...said, truncated: stdout.isCut() || stderr.isCut() }
  const how = exitCode === null ? `was ended by ${byWhat}` : `ended with exit code ${exitCode}`
  throw new RetryableError(`The program ${how}.`, { code: 'command_failed', details: lastWords(said) })
}

function explainStart(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error)
  throw new FatalError(`The program could not be started: ${message}`, { code: 'not_started', cause: error })
}

/** Failures go into receipts, which are small. */
function lastWords({ exit_code, stderr }: { exit_code: number | null; stderr: string }) {
  return { exit_code, stderr: stderr.slice(-2_000).toWellFormed() }
}

function endGroup(child: ChildProcess): void {
  signalGroup(child, 'SIGTERM')
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), END_MS_MAX)
  child.once('close', () => clearTimeout(timer))
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch (error) {
    // Already gone: what was wanted.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
