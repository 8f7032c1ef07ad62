// Starts worker-fixture.ts as a child process and listens to what it says.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { COMPILED } from './cli-process.ts'

const FIXTURE = join(import.meta.dirname, 'worker-fixture.ts')

interface Line {
  readonly said: string
  readonly [fact: string]: unknown
}

export interface WorkerProcess {
  readonly child: ChildProcess
  /** The `count`th line of that kind, said before or not; fails if the process ends without it. */
  hear(said: string, count?: number): Promise<Line>
  /** Its exit code, once it has ended. */
  readonly exited: Promise<number | null>
}

export function startWorkerProcess(env: Readonly<Record<string, string>>): WorkerProcess {
  const child = spawn(process.execPath, [FIXTURE], {
    env: { PATH: process.env['PATH'], ...COMPILED, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: Line[] = []
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk))
  const reader = createInterface({ input: child.stdout })
  reader.on('line', (line) => void lines.push(JSON.parse(line) as Line))
  const exited = once(child, 'close').then(([code]) => code as number | null)
  return {
    child,
    exited,
    hear: async (said, count = 1) => {
      for (;;) {
        const found = lines.filter((line) => line.said === said)[count - 1]
        if (found) return found
        const more = await Promise.race([once(reader, 'line').then(() => true), exited.then(() => false)])
        if (!more && lines.filter((line) => line.said === said).length < count)
          throw new Error(`the worker ended without "${said}":\n${JSON.stringify(lines)}\n${err}`)
      }
    },
  }
}
